"""All that a tool module imports: `@tool`, `Result`, `Status`, the payload types and `Services`.

    from muleteer.tool import Result, tool

    @tool(effect="read", examples=("roll two dice",))
    async def roll_dice(sides: int = 6) -> Result:
        '''Roll a die. Use it when the user asks for a random roll.

        sides: how many sides the die has
        '''
        return Result.ok(f"You rolled {random.randint(1, sides)}.")

The function's name is the tool's name; the docstring's first paragraph is what the model reads; a
`name: text` line describes a parameter; annotations make the JSON schema. Parameters annotated with
`Services` are given by the daemon and are not part of the schema. Exceptions become `error` results.

A parameter may be of a type that takes more than its schema promises, such as `Seconds`: the model copies
"10 min", the function gets 600.0. A class is needed only where calls share something that costs time to make;
then the tool is a function that uses the one instance.

Tests and small programs need no file and no daemon:

    toolbox = Toolbox.of([roll_dice])  # from muleteer.toolbox; takes `Services(notebook=...)`, too
    outcome = await toolbox.call("roll_dice", {"sides": 20})
    assert (outcome.result.status, outcome.tool) == (Status.OK, "roll_dice")

A tool that cannot be used is in `toolbox.disabled`, by name and with the reason. Elsewhere a file in a folder
of tools is enough; a package offers its own by the entry point group `muleteer.tools`.

A tool runs in a thread of its own, a coroutine in a loop of its own, until it ends or its `timeout` is
over. A tool module is trusted code all the same: `os._exit` in it ends the daemon, also when it is loaded
(`--log-level debug` names each file before that). Install only what you have read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import Literal, TypeVar, get_args

from muleteer import sums
from muleteer.calling.coercions import Seconds
from muleteer.sentences import figure, joined, opening, say
from muleteer.services import (
    Agenda,
    Appointment,
    BoardState,
    FoundFile,
    Memory,
    MissedTimer,
    Note,
    Notebook,
    PastTurn,
    PendingTimer,
    PendingTimers,
    Reading,
    Services,
    Told,
)
from muleteer.when import (
    Meant,
    Stretch,
    apart,
    cut_times,
    each_said,
    find_days,
    read_alarm,
    read_days,
    read_delay,
    read_meant,
    read_more,
    say_day,
    say_delay,
    settled,
)

__all__ = [
    "Agenda",
    "Appointment",
    "BoardState",
    "Data",
    "Declaration",
    "Document",
    "Effect",
    "FoundFile",
    "Meant",
    "Memory",
    "MissedTimer",
    "Named",
    "Note",
    "Notebook",
    "Notes",
    "PastTurn",
    "Payload",
    "PendingTimer",
    "PendingTimers",
    "Reading",
    "Result",
    "Seconds",
    "Services",
    "Status",
    "Stretch",
    "Told",
    "ToolFunction",
    "apart",
    "cut_times",
    "each_said",
    "figure",
    "find_days",
    "joined",
    "opening",
    "read_alarm",
    "read_days",
    "read_delay",
    "read_meant",
    "read_more",
    "say",
    "say_day",
    "say_delay",
    "settled",
    "sums",
    "tool",
]

Effect = Literal["read", "write", "physical"]


@dataclass(frozen=True, slots=True)
class Named:
    """Beside an annotation: `Annotated[str, Named("serial", "readings")]` takes one of the names of that kind
    that the service has. The model is offered those alone; the function may still be called with any."""

    service: str
    kind: str


class Status(StrEnum):
    """How a call ended. `EMPTY`: looked, and there is nothing. `UNAVAILABLE`: could not look."""

    OK = "ok"
    EMPTY = "empty"
    UNAVAILABLE = "unavailable"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notes:
    """Payload: short texts found, best first. The answer is written from them."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Payload: the contents of something that was located. The answer is written from it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Data:
    """Payload: values for programs. `Result.text` already says them in words."""

    values: dict[str, object]


Payload = Notes | Document | Data


@dataclass(frozen=True, slots=True)
class Result:
    """The one outcome of a call. `text` is a sentence fit for the user to hear; `payload` goes to the
    answer stage and never through a model's paraphrase; `sources` name where it came from."""

    status: Status
    text: str
    payload: Payload | None = None
    sources: tuple[str, ...] = ()

    @classmethod
    def ok(cls, text: str, payload: Payload | None = None, sources: Sequence[str] = ()) -> Result:
        return cls(Status.OK, text, payload, tuple(sources))

    @classmethod
    def empty(cls, text: str) -> Result:
        return cls(Status.EMPTY, text)

    @classmethod
    def unavailable(cls, text: str) -> Result:
        return cls(Status.UNAVAILABLE, text)

    @classmethod
    def error(cls, text: str) -> Result:
        return cls(Status.ERROR, text)


ToolFunction = Callable[..., Awaitable[Result] | Result]
Settled = Callable[[str, Mapping[str, object]], Mapping[str, object]]
Several = Callable[[str], Sequence[str]]
F = TypeVar("F", bound=ToolFunction)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `@tool` says about a function beyond its signature. `signature` is the line L2 reads (made from
    the function when empty), `craft` the rules only L3 reads, `menu` whether the planner may choose it
    without a skill, `hidden` whether L2 is not shown it, `timeout` in seconds, `exact` the parameters whose
    numbers must have been said before a model may write them, `said` optional ones that are left out where
    their words were not: a time that nobody named; `words` those that are the user's own words: what a model
    changes there is not taken. `settled` gives the arguments as the message has them, from the
    message and what a model wrote; `several` the messages for a call each that a message is, none where it is
    for one. Both run in the daemon's loop, so they are short and do nothing else."""

    effect: Effect
    signature: str = ""
    craft: str = ""
    menu: bool = True
    hidden: bool = False
    network: bool = False
    timeout: float = 20.0
    examples: tuple[str, ...] = field(default=())
    exact: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    settled: Settled | None = None
    several: Several | None = None

    def problem(self) -> str:
        """What `@tool` was given that it cannot take, as a sentence; empty when all is well."""
        if self.effect not in get_args(Effect):
            return f"its effect must be one of {', '.join(get_args(Effect))}."
        for name in ("signature", "craft"):
            if not isinstance(getattr(self, name), str):
                return f"its {name} must be a text."
        for name in ("menu", "hidden", "network"):
            if not isinstance(getattr(self, name), bool):
                return f"its {name} must be True or False."
        if not isinstance(self.timeout, (int, float)) or not 0 < self.timeout < inf:
            return "its timeout must be a number of seconds above zero."
        if not all(isinstance(example, str) for example in self.examples):
            return "its examples must be texts."
        for name in ("exact", "said", "words"):
            if not all(isinstance(each, str) for each in getattr(self, name)):
                return f"its {name} must be names of parameters."
        if self.settled is not None and not callable(self.settled):
            return "its settled must be a function of the message and the arguments."
        if self.several is not None and not callable(self.several):
            return "its several must be a function of the message."
        return ""


def tool(
    *,
    effect: Effect,
    signature: str = "",
    craft: str = "",
    menu: bool = True,
    hidden: bool = False,
    network: bool = False,
    timeout: float = 20.0,
    examples: Sequence[str] = (),
    exact: Sequence[str] = (),
    said: Sequence[str] = (),
    words: Sequence[str] = (),
    settled: Settled | None = None,
    several: Several | None = None,
) -> Callable[[F], F]:
    """Mark a function as a tool. Checked against its signature when the toolbox loads it."""

    def mark(function: F) -> F:
        shown, strict, spoken, own = map(_listed, (examples, exact, said, words))
        declaration = Declaration(
            effect,
            signature,
            craft,
            menu,
            hidden,
            network,
            timeout,
            shown,
            strict,
            spoken,
            own,
            settled,
            several,
        )
        function.__muleteer_tool__ = declaration  # type: ignore[attr-defined]  # read back by the toolbox
        return function

    return mark


def _listed(texts: Sequence[str]) -> tuple[str, ...]:
    """One text that was given alone is one of several."""
    return (texts,) if isinstance(texts, str) else tuple(texts)
