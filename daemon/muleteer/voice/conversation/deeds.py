"""What the conversation wants done: the machine's output, the driver's orders. Shapes only.

What comes back is told with the same `number`, so that an answer to something given up is known as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["listening", "thinking", "trouble", "over", "ring", "muted", "unmuted"]


@dataclass(frozen=True, slots=True)
class Recognize:
    """Turn an utterance into text."""

    number: int
    pcm: bytes


@dataclass(frozen=True, slots=True)
class Keep:
    """An utterance that was acted upon; it is kept where the settings say so, and nowhere else."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class Ask:
    """Begin a turn."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Go on with a turn that ended in a question."""

    number: int
    turn: str
    yes: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    """Give up the turn that runs; its engine is free at once."""


@dataclass(frozen=True, slots=True)
class Warm:
    """A turn is about to come: have the planner's prompt ready."""


@dataclass(frozen=True, slots=True)
class Speak:
    """Say a sentence, after all that is still to be said."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Chime:
    """Play a tone in the same row."""

    number: int
    tone: Tone


@dataclass(frozen=True, slots=True)
class Hush:
    """Be silent now, and drop what is still to be said."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Whatever rings in the household has been heard: it shall stop."""


Deed = Recognize | Keep | Ask | Answer | Cancel | Warm | Speak | Chime | Hush | Silence
