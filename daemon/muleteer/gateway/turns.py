"""Running turns: a bounded number at once, each with its events, each ended when nobody wants it.

Knows the harness only as something that yields events. Does not know HTTP; `app.py` writes the events out.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Protocol

from muleteer.engine.protocol import Message
from muleteer.errors import EngineBusyError, MuleteerError, ShuttingDownError
from muleteer.gateway.health import Health
from muleteer.gateway.traces import Traces, told
from muleteer.harness.confirmation import Pending
from muleteer.harness.events import (
    Confirm,
    Event,
    LevelFinished,
    LevelUse,
    Outcome,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)

log = logging.getLogger(__name__)

Begun = tuple[str, AsyncGenerator[Event, None]]  # what was said, and what comes of it

LOADING_WAIT = 10.0  # seconds a turn waits for the model at start; most clients give up after 30 or more


class Runs(Protocol):
    """The harness as the gateway uses it: `TurnStarted` first, an `Outcome` last. `take` is the question that
    a turn ended with, once, and raises `NotOpenError`; `confirmed` goes on with the answer to it."""

    def run(
        self,
        message: str = "",
        history: Sequence[Message] = (),
        *,
        skill: str = "",
        background: bool = False,
        confirm: Collection[str] = (),
        brain: str = "",
    ) -> AsyncGenerator[Event, None]: ...
    def take(self, turn: str) -> Pending: ...
    def confirmed(self, pending: Pending, yes: bool) -> AsyncGenerator[Event, None]: ...


class Turn:
    """One turn in its own task, so that a slow reader does not hold the engine. `ended` is called once, as
    soon as there is an outcome or nobody wants one."""

    def __init__(
        self, message: str, events: AsyncGenerator[Event, None], ended: Callable[[Turn], None]
    ) -> None:
        self.id = ""
        self.message = message
        self.outcome: Outcome | None = None
        self._ended = ended
        self._levels: list[LevelUse] = []
        self._events: asyncio.Queue[Event] = asyncio.Queue()  # bounded by the turn's token budget
        self._task = asyncio.create_task(self._run(events))

    async def next(self) -> Event:
        """The next event; nothing comes after the outcome."""
        return await self._events.get()

    async def result(self) -> Outcome:
        """Pass over all events to the outcome."""
        while not isinstance(event := await self.next(), Outcome):
            pass
        return event

    def end(self, error: MuleteerError) -> None:
        """Make `error` the outcome now, unless there is one, and stop working."""
        self._tell(self._failure(error))
        self._task.cancel(str(error))

    async def close(self) -> None:
        """Stop working; returns when the harness has let go of the engine."""
        self._task.cancel("nobody waits for this turn")
        try:
            await asyncio.wait({self._task})
        finally:
            if self.outcome is None:
                self._ended(self)

    async def _run(self, events: AsyncGenerator[Event, None]) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    self._tell(event)
        except MuleteerError as error:
            self._tell(self._failure(error))
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and self._task.cancelling():
                raise
            log.exception("turn %s: the harness failed", self.id)
        if self.outcome is None:
            self._tell(self._failure(MuleteerError("The turn failed inside the daemon; its log says where.")))

    def _tell(self, event: Event) -> None:
        if self.outcome is not None:
            return
        if isinstance(event, TurnStarted):
            self.id = event.turn
        elif isinstance(event, LevelFinished):
            self._levels.append(event.level)
        elif isinstance(event, Outcome):
            self.outcome = event
            self._ended(self)
        self._events.put_nowait(event)

    def _failure(self, error: MuleteerError) -> TurnFailed:
        return TurnFailed(self.id, error.code, str(error), error.status, tuple(self._levels))


class Turns:
    """All turns of the daemon. `limit` is how many run or wait at once; `ended` is called with each outcome
    and the message it belongs to, within the turn's session, waits for nothing and never fails."""

    def __init__(
        self,
        harness: Runs,
        health: Health,
        limit: int,
        loading_wait: float = LOADING_WAIT,
        ended: Callable[[Outcome, str], None] = lambda outcome, message: None,
    ) -> None:
        self._harness = harness
        self._health = health
        self._limit = limit
        self._loading_wait = loading_wait
        self._ended = ended
        self._waiting = 0
        self._running: set[Turn] = set()
        self._background: set[Turn] = set()
        self.traces = Traces()
        self.ended_at = 0.0
        """Monotonic seconds of the end of a person's last turn; 0 if there was none."""
        self._counts = {"finished": 0, "asked": 0, "refused": 0, "failed": 0, "cancelled": 0}

    def counts(self) -> dict[str, int]:
        """`running`, and `waiting` for the model, now. Since the start: `finished`, `asked` (ended with a
        question), `refused` (by the request's own fault), `failed`, and `cancelled` (the client left)."""
        return {"running": len(self._running), "waiting": self._waiting, **self._counts}

    @property
    def busy(self) -> int:
        """People's turns that run or wait for the model."""
        return self._waiting + len(self._running - self._background)

    def background(self, skill: str) -> AbstractAsyncContextManager[Turn]:
        """A turn of a skill that nobody waits for. Raises as `start`."""
        return self._begin(lambda: ("", self._harness.run(skill=skill, background=True)), skill)

    def start(
        self, message: str, history: Sequence[Message], confirm: Collection[str] = (), brain: str = ""
    ) -> AbstractAsyncContextManager[Turn]:
        """A running turn, stopped at the end of the block at the latest.

        Waits a bounded time for a model that is still loading. Raises `EngineBusyError` when all places
        are taken, and what `Health.serving` raises.
        """
        return self._begin(
            lambda: (message, self._harness.run(message, history, confirm=confirm, brain=brain))
        )

    def host(self, begin: Callable[[], Begun]) -> AbstractAsyncContextManager[Turn]:
        """A turn of a guest, begun once there is a place for it. Raises as `start`, and as `begin` does."""
        return self._begin(begin)

    def confirm(self, turn: str, yes: bool) -> AbstractAsyncContextManager[Turn]:
        """The turn that goes on with the answer to its question. Raises as `start`, and `NotOpenError`."""

        def go_on() -> Begun:
            pending = self._harness.take(turn)
            return pending.message, self._harness.confirmed(pending, yes)

        return self._begin(go_on)

    @asynccontextmanager
    async def _begin(self, begin: Callable[[], Begun], skill: str = "") -> AsyncIterator[Turn]:
        if self._waiting + len(self._running) >= self._limit:
            raise EngineBusyError(f"{self._limit} turns are running or waiting already; ask again soon.")
        self._waiting += 1
        try:
            await self._health.serving(self._loading_wait)
        finally:
            self._waiting -= 1
        message, events = begin()
        turn = Turn(message, self.traces.watched(events, skill), self._count)
        self._running.add(turn)
        if skill:
            self._background.add(turn)
        try:
            yield turn
        except Exception:
            turn.end(MuleteerError("The answer could not be passed on; the daemon's log says why."))
            raise
        finally:
            await turn.close()

    def stop(self) -> None:
        """End every turn with `ShuttingDownError` as its outcome; their clients still get to read it."""
        for turn in tuple(self._running):
            turn.end(ShuttingDownError("The daemon is stopping; ask again when it is back."))

    def _count(self, turn: Turn) -> None:
        self._running.discard(turn)
        if turn not in self._background:
            self.ended_at = time.monotonic()
        self._background.discard(turn)
        if turn.outcome is None:
            kind = "cancelled"
        else:
            kind = _kind(turn.outcome)
            self._ended(turn.outcome, turn.message)
        self._counts[kind] += 1
        why = f" ({turn.outcome.code})" if isinstance(turn.outcome, TurnFailed) else ""
        log.info("turn %s %s%s", turn.id or "?", kind, why, extra=told(turn.id, turn.outcome))


def _kind(outcome: Outcome) -> str:
    """The count that an outcome belongs to."""
    match outcome:
        case TurnFinished():
            return "finished"
        case Confirm():
            return "asked"
        case TurnFailed(status=status):
            return "refused" if 400 <= status < 500 else "failed"
