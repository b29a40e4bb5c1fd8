"""What a guest asks for, and what it is told, in no protocol's words. Data and nothing else.

A guest is a program that keeps its conversation itself: it sends all of it each time, perhaps with tools of
its own, whose calls it makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from muleteer.engine.protocol import JsonSchema, ToolSpec
from muleteer.errors import RequestError
from muleteer.harness.events import Event

# Calls of one reply. Each costs a choice and a fill; a list of ten of anything belongs in one call.
MOST_CALLS = 6

Finish = Literal["stop", "length", "tool_calls"]
Choice = Literal["auto", "none", "required"]


class MisplacedError(RequestError):
    """A part of a conversation that is wrong; `at` says which, as `messages[2].tool_calls[0]`."""

    def __init__(self, at: str, message: str) -> None:
        super().__init__(f"{at} {message}")
        self.at = at


@dataclass(frozen=True, slots=True)
class Called:
    """A call that an earlier reply asked for. `arguments` is the JSON text of an object."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """One message. `answers` is the id of the call that a tool's message is the result of; without one, the
    results are in the order of the calls."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[Called, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. `choice`: whether a tool is called, by the model's choice, never or in any case; `named`
    is the one that is. At most `calls` calls. `schema` is that of the answer, in JSON. `limit`: tokens of
    what the guest reads. `guest` is who asks, `session` which conversation of theirs it is."""

    messages: tuple[Said, ...]
    tools: tuple[ToolSpec, ...] = ()
    choice: Choice = "auto"
    named: str = ""
    calls: int = MOST_CALLS
    schema: JsonSchema | None = None
    stop: tuple[str, ...] = ()
    limit: int | None = None
    guest: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One call that the guest shall make; the arguments are valid under the tool's schema."""

    name: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class CallsWanted(Event):
    """The reply asks for these calls."""

    name: ClassVar[str] = "calls"
    calls: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class Finishing(Event):
    """Comes right before the outcome: why the reply ends, and what of the request could not be honoured."""

    name: ClassVar[str] = "finishing"
    finish: Finish
    warnings: tuple[str, ...] = ()
