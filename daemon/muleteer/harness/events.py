"""What a turn tells while it runs. The gateway streams these as they happen; the last one is always
`TurnFinished`, `Confirm` or `TurnFailed`.

On the wire an event is `event: <name>` and one JSON object; `name` and the field names are the format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from muleteer.engine.protocol import Use


@dataclass(frozen=True, slots=True)
class LevelUse:
    """One model request of a turn: tokens and milliseconds, as `engine.protocol.Use` counts them."""

    name: str
    prompt: int
    reused: int
    decoded: int
    generated: int
    ms: float

    @classmethod
    def of(cls, name: str, use: Use) -> LevelUse:
        return cls(name, use.prompt, use.reused, use.decoded, use.generated, round(use.ms, 1))


@dataclass(frozen=True, slots=True)
class CallUse:
    """One tool call that ran: its typed status and milliseconds."""

    tool: str
    status: Literal["ok", "empty", "unavailable", "error"]
    ms: float


@dataclass(frozen=True, slots=True)
class BrainUse:
    """A brain that answered, or tried to, and why it came to that."""

    brain: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    name: ClassVar[str]

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    name: ClassVar[str] = "turn.started"
    turn: str


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """L1 is done. `confidence` is the probability of the first handle; `handles` is empty for a reply."""

    name: ClassVar[str] = "plan"
    handles: tuple[str, ...]
    confidence: float
    attempt: int


@dataclass(frozen=True, slots=True)
class BrainChosen(Event):
    """From here on this brain answers; `reason` says why it is not the one before it, or not the one that was
    wanted."""

    name: ClassVar[str] = "brain"
    brain: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LevelFinished(Event):
    name: ClassVar[str] = "level"
    level: LevelUse


@dataclass(frozen=True, slots=True)
class CallStarted(Event):
    name: ClassVar[str] = "call.started"
    tool: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    name: ClassVar[str] = "call.finished"
    tool: str
    status: str
    text: str
    ms: float


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    """A piece of the answer, already scrubbed. The pieces joined are the answer."""

    name: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class TurnFinished(Event):
    """The whole turn. `handles` are those of the attempt that answered; `first_ms` is when the first piece of
    the answer could be shown; `dropped` are the messages of the conversation that had no room;
    the last of `brains` answered, those before it failed."""

    name: ClassVar[str] = "turn.finished"
    turn: str
    answer: str
    handles: tuple[str, ...]
    calls: tuple[CallUse, ...]
    levels: tuple[LevelUse, ...]
    ms: float
    first_ms: float = 0.0
    dropped: int = 0
    brains: tuple[BrainUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Confirm(Event):
    """The turn has ended at a call that needs a yes. `question` is written by code; a yes runs `tool` with
    exactly these `arguments`. It can be answered once, within `seconds`, while the daemon lives."""

    name: ClassVar[str] = "confirm"
    turn: str
    tool: str
    effect: str
    arguments: dict[str, object]
    question: str
    seconds: float
    handles: tuple[str, ...]
    calls: tuple[CallUse, ...]
    levels: tuple[LevelUse, ...]
    ms: float


@dataclass(frozen=True, slots=True)
class TurnFailed(Event):
    """The turn ended without an answer. `code` and `message` as in `errors.py`; the levels that ran are
    reported all the same."""

    name: ClassVar[str] = "turn.failed"
    turn: str
    code: str
    message: str
    status: int
    levels: tuple[LevelUse, ...]


Outcome = TurnFinished | Confirm | TurnFailed
