"""Guests' conversations as turns of the daemon: begun, followed, ended. For every protocol that has them.

Knows which way an ask goes: to our own skills, to an answer of a question, or over the guest's own tools.
Does not know HTTP, nor any protocol's words.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from muleteer import session
from muleteer.engine.protocol import EngineStatus, JsonSchema
from muleteer.engine.vetting import vet
from muleteer.errors import SkillError
from muleteer.gateway import peer
from muleteer.gateway.running import Turn
from muleteer.gateway.turns import Begun, Turns
from muleteer.harness.assent import assent
from muleteer.harness.events import LevelUse, Outcome, TextDelta, TurnFailed, TurnFinished
from muleteer.harness.guests import own
from muleteer.harness.guests.ask import Ask, CallsWanted, Finish, Finishing, MisplacedError, Wanted
from muleteer.harness.guests.hosted import host
from muleteer.harness.guests.questions import Questions
from muleteer.harness.guests.shelf import Shelf
from muleteer.harness.guests.talk import Talk, read
from muleteer.harness.staged import Staged
from muleteer.harness.turn import Harness

DEFAULT = "muleteer"  # the name of whatever model is loaded

# Levels whose tokens the guest gets to read; what others generate is how its answer was found.
SHOWN = ("reply", "answer", "agent")


class TurnError(Exception):
    """The turn ended without an answer; `failed` says why."""

    def __init__(self, failed: TurnFailed) -> None:
        super().__init__(failed.message)
        self.failed = failed


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of all levels of a turn, as the engine counted them. `prompt` is what it was given, of which
    `cached` was decoded before; `completion` is what it generated or scored, of which `hidden` is not what
    the guest reads."""

    prompt: int
    cached: int
    completion: int
    hidden: int

    @classmethod
    def of(cls, levels: Sequence[LevelUse]) -> Usage:
        hidden = sum(level.generated for level in levels if level.name not in SHOWN)
        return cls(
            sum(level.prompt for level in levels),
            sum(level.reused for level in levels),
            sum(level.generated for level in levels),
            hidden,
        )


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds on a clock that only goes forward: of the turn's begin, of the first word, and of the end."""

    begun: float
    first: float
    ended: float


@dataclass(frozen=True, slots=True)
class End:
    """The reply is over. `warnings` are sentences about what could not be honoured, `dropped` the messages
    that had no room."""

    turn: str
    finish: Finish
    usage: Usage
    levels: tuple[LevelUse, ...]
    times: Times
    warnings: tuple[str, ...] = ()
    dropped: int = 0


Part = str | tuple[Wanted, ...] | End


class Reply:
    """What a guest is told, part by part: text, calls to make, and the end."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._finishing = Finishing("stop")
        self._begun, self._first = time.monotonic(), 0.0

    async def next(self) -> Part:
        """The next part; nothing comes after the end. A wait for it may be given up and begun again. Raises
        `TurnError`."""
        while True:
            event = await self._turn.next()
            if isinstance(event, TextDelta | CallsWanted):
                self._first = self._first or time.monotonic()
            if isinstance(event, TextDelta):
                return event.text
            if isinstance(event, CallsWanted):
                return event.calls
            if isinstance(event, Finishing):
                self._finishing = event
            elif isinstance(event, TurnFailed):
                raise TurnError(event)
            elif isinstance(event, Outcome):
                dropped = event.dropped if isinstance(event, TurnFinished) else 0
                why = self._finishing
                usage = Usage.of(event.levels)
                now = time.monotonic()
                times = Times(self._begun, self._first or now, now)
                return End(event.turn, why.finish, usage, event.levels, times, why.warnings, dropped)

    async def whole(self) -> tuple[str, tuple[Wanted, ...], End]:
        """All text, all calls and the end. Raises `TurnError`."""
        text, calls = "", list[Wanted]()
        while not isinstance(part := await self.next(), End):
            if isinstance(part, str):
                text += part
            else:
                calls += part
        return text, tuple(calls), part


class Guests:
    """Serves guests over one harness. `model` is the configured name or path, `context` in tokens."""

    def __init__(
        self,
        turns: Turns,
        harness: Harness,
        status: Callable[[], EngineStatus],
        model: str,
        context: int,
    ) -> None:
        self._turns, self._harness, self._status = turns, harness, status
        self._context = context
        self._shelf, self._questions = Shelf(), Questions()
        self.model = Path(model).stem if "/" in model else model
        """What the model is called in the catalogue; a file's name without its ending."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the model may be called: each of these is the same one."""
        return tuple(dict.fromkeys((DEFAULT, self.model)))

    @asynccontextmanager
    async def start(self, ask: Ask) -> AsyncIterator[Reply]:
        """A running turn's reply; the turn is stopped at the end of the block at the latest. Raises
        `MisplacedError` for what cannot be asked so, and as `Turns.start` does."""
        begin = await self._way(ask, read(ask.messages))
        session.begin(ask.session, peer.current.get().keeper)
        async with self._turns.host(begin) as turn:
            yield Reply(turn)

    async def _way(self, ask: Ask, talk: Talk) -> Callable[[], Begun]:
        """What begins the turn. What a guest does with its own tools is none of the household's memories, so
        nothing was said there."""
        if ask.tools or ask.schema is not None or talk.made:
            staged = await self._staged(ask)
            if ask.schema is not None:
                await _check(ask.schema)
            properties = self._status().properties
            marks = properties.call_marks if properties else ()
            return lambda: ("", host(self._harness, staged, ask, talk, self._context, marks))
        yes = assent(talk.message)
        if yes is not None and (turn := self._questions.find(ask)):
            owns = peer.current.get().owns
            return lambda: own.answered(self._harness, ask, turn, yes, self._questions, owns)
        return lambda: (talk.message, own.own(self._harness, ask, talk, self._questions))

    async def _staged(self, ask: Ask) -> Staged:
        """The tools; at least one must be usable, and the one that is named."""
        staged = await self._shelf.staged(ask.tools)
        if ask.named and ask.named not in staged.tools:
            why = staged.refused.get(ask.named, "no tool of that name was sent.")
            raise MisplacedError("tool_choice", f"names {ask.named[:80]}: {why}")
        if ask.tools and not staged.tools:
            name, why = next(iter(staged.refused.items()))
            raise MisplacedError("tools", f"hold none that can be used; {name[:80]}: {why}")
        return staged


async def _check(schema: JsonSchema) -> None:
    """Raises `RequestError` that names the JSON pointer and the keyword of what cannot be enforced."""
    try:
        await asyncio.to_thread(vet, schema)
    except SkillError as error:
        raise MisplacedError("response_format", f"has a schema that cannot be enforced. {error}") from error
