"""How a conversation behaves: what the settings say of it. What follows is `machine.py`'s."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from muleteer.voice.conversation.ear import Limits


class Cutter(Protocol):
    """Text that comes in pieces, cut into sentences."""

    def feed(self, piece: str) -> list[str]: ...
    def rest(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Manners:
    """How to behave. `follow_up` is in seconds, 0 for none; `slow` is what tells that a turn takes long;
    `tones`: whether sounds tell what is going on."""

    language: str = "en"
    follow_up: float = 5.0
    barge_in: Literal["wake", "speech"] = "wake"
    slow: Literal["tone", "words", "nothing"] = "tone"
    tones: bool = True
    limits: Limits = field(default_factory=Limits)
    noticed: float = 0.28
    """Seconds after its end within which the wake word is noticed: what is heard meanwhile may be the first
    word of a request, and what was before is the wake word. microWakeWord takes 0.21 to 0.22 (measured)."""
