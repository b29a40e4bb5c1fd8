"""Ears that understand anything: Whisper by faster-whisper, on the CPU, in eight bits.

Knows how names are whispered to it before, and when what it wrote is worth nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from faster_whisper import WhisperModel

from muleteer.voice.parts import Heard

PROMPT_CHARACTERS = 500  # of names: Whisper reads the last 223 tokens, and fewer take less time
LEAST_CONFIDENCE = 0.3  # of what was made of silence and noise, 0.29 was the most; of speech, 0.54 the least
FULL_SCALE = 32_768.0
ENDS = (".", "?", "!")  # of a whole sentence


class WhisperEars:
    """`folder` has the model; loading it takes seconds. Raises what the library raises."""

    def __init__(self, folder: str, threads: int) -> None:
        self._model = WhisperModel(
            folder, device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
        )

    def hear(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        """As `Ears` has it. One guess without retries: its confidence is told instead."""
        if not pcm:
            return Heard("", language, 0.0)
        sound = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / FULL_SCALE
        segments, _ = self._model.transcribe(
            sound,
            language=language,
            beam_size=1,
            temperature=0.0,
            initial_prompt=prompt(names),
            condition_on_previous_text=False,
            without_timestamps=True,
        )
        said = list(segments)
        text = "".join(each.text for each in said).strip()
        if not text:
            return Heard("", language, 0.0)
        confidence = math.exp(sum(each.avg_logprob for each in said) / len(said))
        return Heard(text if confidence >= LEAST_CONFIDENCE else "", language, min(confidence, 1.0))


def prompt(names: Sequence[str]) -> str | None:
    """The text that goes before: names, then whole sentences, since Whisper goes on in the manner of what is
    nearest, and as many of the first ones as there is room for. A bare list of words in small letters was
    seen to harm ("hot water is the green house"); the same names before a sentence were not.
    """
    room = PROMPT_CHARACTERS
    words: list[str] = []
    sentences: list[str] = []
    for name in names:
        room -= len(name) + 2
        if room < 0:
            break
        (sentences if name.endswith(ENDS) else words).append(name)
    listed = [", ".join(reversed(words)) + "."] if words else []
    return " ".join(listed + list(reversed(sentences))) or None
