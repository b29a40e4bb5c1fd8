"""Carrying out what another agent calls: a whole turn, the answer to its question, memory, one tool by hand.

An agent on the network may think anywhere, so what is private does not go to it: turns of private skills are
not answered, and past ones are not found. Who is on the Unix socket is the owner. Knows turns and tools; not
the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from muleteer import session
from muleteer.engine.protocol import Message
from muleteer.errors import MuleteerError, RequestError
from muleteer.gateway.calls import shown
from muleteer.gateway.mcp.offer import ASK, CONFIRM, NOTES, SEARCH, TURNS, Offered, offered, on_disk
from muleteer.gateway.peer import Peer, current
from muleteer.gateway.replies import Begin
from muleteer.gateway.requests import SESSION, parse_turn
from muleteer.gateway.turns import Turns
from muleteer.harness.events import (
    CallFinished,
    CallStarted,
    Confirm,
    Event,
    LevelFinished,
    Outcome,
    Planned,
    TurnFailed,
    TurnFinished,
)
from muleteer.privacy import Privacy, leaving
from muleteer.skills import Catalogue
from muleteer.tool import Data, Document, Notes, Status
from muleteer.toolbox import Outcome as Called

LONGEST_QUERY = 1_000  # characters; a few words are searched for
LONGEST_ID = 64  # characters of a turn's id

PRIVATE = (
    "Only a private skill can answer that, and what is private does not leave the device over the network; "
    "ask on the device itself."
)
PRIVATE_TALK = (
    "Something private was said in this conversation, so it is not gone on with over the network; leave the "
    "session out, or use another name."
)

Progress = Callable[[int, str], Awaitable[None]]
History = Callable[[str], Awaitable[Sequence[Message]]]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to: a text for a model, the same as fields, and whether it failed."""

    text: str
    fields: Mapping[str, object] | None = None
    failed: bool = False


class Confirming(BaseModel):
    """The arguments of `confirm`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    turn: str = Field(max_length=LONGEST_ID)
    yes: bool
    session: str = Field("", pattern=SESSION)


class Searching(BaseModel):
    """The arguments of `search_memory`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field("", max_length=LONGEST_QUERY)
    when: str = Field("", max_length=LONGEST_QUERY)


class Calls:
    """`history` is what was said in a session, `ask_before` the effects of tools that need a yes."""

    def __init__(
        self,
        turns: Turns,
        catalogue: Callable[[], Catalogue],
        history: History,
        privacy: Privacy,
        ask_before: Collection[str],
    ) -> None:
        self._turns, self._catalogue, self._history = turns, catalogue, history
        self._privacy, self._ask_before = privacy, tuple(ask_before)

    def offered(self, peer: Peer) -> list[Offered]:
        """What this peer may call now."""
        found = offered(self._catalogue(), self._ask_before)
        return [each for each in found.values() if peer.may(each.scope)]

    async def call(
        self, peer: Peer, name: str, arguments: Mapping[str, object], progress: Progress
    ) -> Answer:
        """Whatever goes wrong is an answer that failed. `progress` is told each step of a turn, numbered."""
        away, asks = leaving.set(peer.transport != "unix"), current.set(peer)
        try:
            return await self._call(peer, name, arguments, progress)
        except MuleteerError as error:
            return Answer(str(error), failed=True)
        finally:
            leaving.reset(away)
            current.reset(asks)

    async def _call(
        self, peer: Peer, name: str, arguments: Mapping[str, object], progress: Progress
    ) -> Answer:
        found = offered(self._catalogue(), self._ask_before)
        if (wanted := found.get(name)) is None:
            able = ", ".join(each.name for each in found.values() if peer.may(each.scope))
            raise RequestError(f"There is no tool {name[:LONGEST_ID]!r}; there are {able}.")
        if not peer.may(wanted.scope):
            raise RequestError(f"{name} needs a token that has the scope {wanted.scope}.")
        if wanted is ASK:
            return await self._ask(arguments, progress)
        if wanted is CONFIRM:
            return await self._confirm(arguments, progress)
        session.begin("", peer.keeper)
        if wanted is SEARCH:
            return await self._search(arguments)
        return _result(await self._catalogue().toolbox.call(wanted.tool, arguments))

    async def _ask(self, arguments: Mapping[str, object], progress: Progress) -> Answer:
        if unknown := arguments.keys() - {"message", "session"}:
            raise RequestError(f"ask takes a message and a session, not {', '.join(sorted(unknown))}.")
        turn = parse_turn(json.dumps(arguments).encode())
        owner = current.get().keeper
        session.begin(turn.session, owner)
        history = await self._history(key := session.key_of(turn.session, owner))
        if leaving.get() and self._privacy.concerns(key, history):
            raise RequestError(PRIVATE_TALK)
        return await self._followed(partial(self._turns.start, turn.message, history), progress)

    async def _confirm(self, arguments: Mapping[str, object], progress: Progress) -> Answer:
        given = _checked(Confirming, arguments)
        session.begin(given.session, current.get().keeper)
        return await self._followed(partial(self._turns.confirm, given.turn, given.yes), progress)

    async def _followed(self, begin: Begin, progress: Progress) -> Answer:
        """A turn to its outcome. One that turns out to be private is stopped before it calls anything."""
        steps = 0
        async with begin() as turn:
            while not isinstance(event := await turn.next(), Outcome):
                if isinstance(event, Planned) and self._withheld(event.handles):
                    break
                if said := _step(event):
                    steps += 1
                    await progress(steps, said)
        match event:
            case TurnFinished() if not self._withheld(event.handles):
                return _answered(event)
            case Confirm() if not self._withheld(event.handles):
                return _question(event)
            case TurnFailed():
                return Answer(event.message, failed=True)
        raise RequestError(PRIVATE)

    def _withheld(self, handles: Collection[str]) -> bool:
        return leaving.get() and not self._catalogue().private.isdisjoint(handles)

    async def _search(self, arguments: Mapping[str, object]) -> Answer:
        """Notes and past turns, each as far as its own tool is in use."""
        given, catalogue = _checked(Searching, arguments), self._catalogue()
        shipped, toolbox = on_disk(catalogue), catalogue.toolbox
        found: list[Called] = []
        if NOTES in shipped and not given.when:
            found.append(await toolbox.call(shipped[NOTES].name, {"query": given.query}))
        if TURNS in shipped:
            found.append(await toolbox.call(shipped[TURNS].name, given.model_dump()))
        if not found:
            raise RequestError("The search of what was said is turned off here; leave `when` out.")
        text = "\n\n".join(_text(each) for each in found)
        return Answer(text, {"results": [shown(each) for each in found]}, all(map(_has_failed, found)))


def _checked(model: type[Model], arguments: Mapping[str, object]) -> Model:
    """Raises `RequestError` for the first thing that is wrong with the arguments."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RequestError(f"The arguments are wrong: {place}: {first['msg']}.") from None


def _step(event: Event) -> str:
    """What an event says of how far a turn is; nothing of what is said in it."""
    match event:
        case LevelFinished(level):
            known = f" ({level.reused} known already)" if level.reused else ""
            return f"{level.name}: {level.decoded} tokens read{known}, {level.generated} written"
        case CallStarted():
            return f"{event.tool} is called"
        case CallFinished():
            return f"{event.tool}: {event.status}"
    return ""


def _answered(event: TurnFinished) -> Answer:
    fields = {"status": "answered", "turn": event.turn, "answer": event.answer}
    return Answer(event.answer, {**fields, "calls": [asdict(each) for each in event.calls]})


def _question(event: Confirm) -> Answer:
    text = (
        f"{event.question}\n\nThis was not done yet. Show the question to your user; with their answer call "
        f"confirm for the turn {event.turn} within {event.seconds:.0f} seconds."
    )
    fields = {
        "status": "confirm",
        "turn": event.turn,
        "question": event.question,
        "tool": event.tool,
        "effect": event.effect,
        "arguments": event.arguments,
        "seconds": event.seconds,
        "calls": [asdict(each) for each in event.calls],
    }
    return Answer(text, fields)


def _result(called: Called) -> Answer:
    return Answer(_text(called), shown(called), _has_failed(called))


def _has_failed(called: Called) -> bool:
    """To have looked and found nothing is no failure."""
    return called.result.status in (Status.ERROR, Status.UNAVAILABLE)


def _text(called: Called) -> str:
    """The sentence, and what it leaves out."""
    match called.result.payload:
        case Notes(items):
            more = "\n".join(f"- {item}" for item in items if item not in called.result.text)
        case Document(name, text):
            more = f"{name}:\n{text}"
        case Data(values):
            more = json.dumps(values, ensure_ascii=False)
        case None:
            more = ""
    return f"{called.result.text}\n\n{more}".rstrip()
