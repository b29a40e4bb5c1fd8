"""What the recogniser's process is told and says: one JSON object a message, sound behind it. Pure.

Length of the JSON (4 bytes, big-endian), the JSON, then as many bytes of sound as its `sound` says.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from muleteer.voice.parts import RATE, SAMPLE_BYTES, Heard

HEAD = 4  # bytes
LONGEST_JSON = 64 * 1024  # bytes: names to expect are the longest of it
LONGEST_SECONDS = 60  # of sound; a wish is said in ten, and Whisper hears half a minute at once
LONGEST_SOUND = LONGEST_SECONDS * RATE * SAMPLE_BYTES


@dataclass(frozen=True)
class Setup:
    """The first message: which ears, in which folder their model lies, threads, and MiB of memory.

    `sentences` are all that ears for commands understand.
    """

    ears: str
    folder: str = ""
    threads: int = 0
    memory: int = 0
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ask:
    """An utterance of `sound` bytes."""

    number: int
    language: str
    names: tuple[str, ...]
    sound: int


@dataclass(frozen=True)
class Answer:
    """What was heard in the utterance of that `number`; 0 is the answer to `Setup`, when it can hear.

    With a `problem`, nothing was, and the sentence says why.
    """

    number: int
    text: str = ""
    language: str = ""
    confidence: float = 0.0
    problem: str = ""

    @property
    def heard(self) -> Heard:
        """As the conversation has it."""
        return Heard(self.text, self.language, self.confidence)


def encode(message: Setup | Ask | Answer) -> bytes:
    """The message without its sound. Raises `ValueError` where it is longer than anybody reads."""
    body = json.dumps(asdict(message)).encode()
    if len(body) > LONGEST_JSON:
        raise ValueError(f"a message of {len(body)} bytes; {LONGEST_JSON} are the most")
    return len(body).to_bytes(HEAD, "big") + body


def length(head: bytes) -> int:
    """Bytes of JSON that follow. Raises `ValueError` for more than anybody sends."""
    size = int.from_bytes(head, "big")
    if size > LONGEST_JSON:
        raise ValueError(f"a message of {size} bytes")
    return size
