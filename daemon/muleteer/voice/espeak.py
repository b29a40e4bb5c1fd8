"""The voice of this board: espeak-ng, a program of its own, which speaks a hundred languages from 10 MB.

Knows its options and its output; it is never linked. Text goes to its standard input, so that none is an
option and none is seen in the list of processes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress

from muleteer.voice.parts import SAMPLE_BYTES, PartGone, Sound

PROGRAM = "espeak-ng"
SECONDS = 20.0  # for one sentence; it takes a tenth of one on the slowest board
LONGEST_TEXT = 4_000  # characters at once; a sentence has a hundred
WAV_HEAD = 44  # bytes, of which four at RATE_AT are the rate
RATE_AT = 24
VOICES = {
    "en": "en-gb",
    "de": "de",
    "es": "es",
    "fr": "fr-fr",
    "it": "it",
    "nl": "nl",
    "pt": "pt",
    "tr": "tr",
}
MISSING = (
    "There is no voice: the program espeak-ng is not installed. "
    "On Debian and Raspberry Pi OS: sudo apt install espeak-ng"
)


class EspeakSpeech:
    """A `Speech`. `voice` overrides the language's own; `speed` is words a minute."""

    def __init__(self, voice: str = "", speed: int = 160, program: str = PROGRAM) -> None:
        self._voice, self._speed, self._program = voice, speed, program

    async def say(self, text: str, language: str) -> AsyncIterator[Sound]:
        """As `Speech` has it, in one piece: it is done long before it could be heard."""
        words = " ".join(re.sub(r"[\x00-\x1f<>\[\]]", " ", text).split())[:LONGEST_TEXT]
        if not words:
            return
        voice = self._voice or VOICES.get(language, language)
        wav = await self._spoken(words, voice)
        rate = int.from_bytes(wav[RATE_AT : RATE_AT + 4], "little")
        pcm = wav[WAV_HEAD:]
        pcm = pcm[: len(pcm) - len(pcm) % SAMPLE_BYTES]
        if rate and pcm:
            yield Sound(pcm, rate)

    async def close(self) -> None:
        """No program runs between sentences."""

    async def _spoken(self, words: str, voice: str) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *(self._program, "-b", "1", "-v", voice, "-s", str(self._speed), "--stdin", "--stdout"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except FileNotFoundError:
            raise PartGone(MISSING) from None
        try:
            async with asyncio.timeout(SECONDS):
                wav, said = await process.communicate(words.encode())
        except TimeoutError:
            raise PartGone(f"The voice took longer than {SECONDS:.0f} seconds for a sentence.") from None
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if process.returncode or len(wav) <= WAV_HEAD:
            reason = said.decode(errors="replace").strip().splitlines()[:1]
            raise PartGone(
                f"The voice {voice} cannot be used: {reason[0] if reason else 'espeak-ng said nothing'}. "
                "`espeak-ng --voices` lists those there are; voice.voice names one."
            )
        return wav
