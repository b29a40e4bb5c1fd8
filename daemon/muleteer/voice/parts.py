"""The parts that a spoken conversation is made of, as protocols, and the one form of sound between them.

Knows shapes only. Which part is which is `opening.py`'s business, and when one is used the conversation's.
Sound is PCM everywhere: signed, 16 bits, little-endian, one channel.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from muleteer.errors import MuleteerError

RATE = 16_000  # samples a second of everything that is heard: what every recogniser here was trained on
FRAME_SAMPLES = 320  # 20 ms: short enough to stop within a syllable, and a multiple of what detectors read
FRAME_SECONDS = FRAME_SAMPLES / RATE
SAMPLE_BYTES = 2
FRAME_BYTES = FRAME_SAMPLES * SAMPLE_BYTES


class PartGone(MuleteerError):  # noqa: N818  (an event of everyday life, and named like one)
    """A part has vanished or cannot be opened; the sentence names it and says what to do."""

    code: ClassVar[str] = "part_gone"
    status: ClassVar[int] = 503


@dataclass(frozen=True)
class Sound:
    """`pcm` to be heard at `rate` samples a second; a voice has a rate of its own."""

    pcm: bytes
    rate: int

    @property
    def seconds(self) -> float:
        """How long it takes to be heard out."""
        return len(self.pcm) / SAMPLE_BYTES / self.rate


@dataclass(frozen=True)
class Heard:
    """What was said: `text` is "" where nothing was understood, `confidence` is 0 to 1."""

    text: str
    language: str
    confidence: float


class Microphone(Protocol):
    """Where people are heard."""

    def frames(self) -> AsyncIterator[bytes]:
        """Frames of FRAME_BYTES at RATE, as they come, until closed. Raises PartGone when it vanishes."""
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...


class Speaker(Protocol):
    """Where answers are heard."""

    async def play(self, sound: Sound) -> None:
        """Returns when it was heard out, or stopped. Raises PartGone when it vanishes."""
        ...

    def stop(self) -> None:
        """Silent within 50 ms; what `play` was at ends there. Nothing happens where nothing plays."""
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...


class WakeWord(Protocol):
    """Listens for the words that make the board attend."""

    def hears(self, frame: bytes) -> str:
        """The name of the word that ended with this frame, or ""."""
        ...

    def reset(self) -> None:
        """Forget what was heard so far."""
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...


class VoiceActivity(Protocol):
    """Tells speech from everything else."""

    def speech(self, frame: bytes) -> float:
        """How likely somebody is speaking as of this frame, 0 to 1."""
        ...

    def reset(self) -> None:
        """Forget what was heard so far."""
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...


class Recognizer(Protocol):
    """Speech to text."""

    async def recognize(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        """What was said in `pcm` (at RATE), in `language` ("de"), where `names` are likely to be said.

        Raises PartGone while the recogniser is being started again, or cannot be.
        """
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...


class Speech(Protocol):
    """Text to speech."""

    def say(self, text: str, language: str) -> AsyncIterator[Sound]:
        """`text`, plain words of `language`, in order, each sound as soon as it is there. Raises PartGone."""
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...
