"""One turn that runs, or has run: its events for everyone who follows it, and its outcome.

Knows the harness only as something that yields events. Does not know who may look, or HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime

from muleteer import session
from muleteer.errors import CancelledByClientError, MuleteerError
from muleteer.gateway import peer
from muleteer.harness.events import (
    CallFinished,
    Event,
    LevelFinished,
    LevelUse,
    Outcome,
    TextDelta,
    TurnFailed,
    TurnStarted,
)

log = logging.getLogger(__name__)

GONE = "The turn was stopped: its client went away."


class Turn:
    """One turn in its own task, so that a slow reader does not hold the engine. `begun` is called once it has
    an id, `ended` once it has an outcome. `skill` is that of a background turn, which is nobody's."""

    def __init__(
        self,
        message: str,
        events: AsyncGenerator[Event, None],
        ended: Callable[[Turn], None],
        begun: Callable[[Turn], None] = lambda turn: None,
        skill: str = "",
    ) -> None:
        self.id, self.message, self.skill = "", message, skill
        self.session = session.current.get()
        self.owner = peer.NOBODY if skill else peer.current.get()
        self.outcome: Outcome | None = None
        self.began, self._clock, self.ms = datetime.now(UTC), time.monotonic(), 0.0
        self.text = ""
        """The answer so far."""
        self.told: list[Event] = []  # bounded by the turn's token budget
        self.news = asyncio.Event()
        self._begun, self._ended = begun, ended
        self.levels: list[LevelUse] = []
        self.calls: list[str] = []
        """The statuses of the calls that have ended."""
        self._mine = self.follow()
        self._task = asyncio.create_task(self._run(events))

    def follow(self) -> Following:
        """The events from the first one on; once the turn is closed, only the outcome."""
        return Following(self)

    async def next(self) -> Event:
        """The next event, for whoever began the turn; nothing comes after the outcome."""
        return await self._mine.next()

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
            self._tell(self._failure(CancelledByClientError(GONE)))
            self.told = self.told[-1:]

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
        self._tell(self._failure(MuleteerError("The turn failed inside the daemon; its log says where.")))

    def _tell(self, event: Event) -> None:
        if self.outcome is not None:
            return
        self.ms = round((time.monotonic() - self._clock) * 1000, 1)
        self.told.append(event)
        if isinstance(event, TurnStarted):
            self.id = event.turn
            self._begun(self)
        elif isinstance(event, LevelFinished):
            self.levels.append(event.level)
        elif isinstance(event, CallFinished):
            self.calls.append(event.status)
        elif isinstance(event, TextDelta):
            self.text += event.text
        elif isinstance(event, Outcome):
            self.outcome = event
            self._ended(self)
        news, self.news = self.news, asyncio.Event()
        news.set()

    def _failure(self, error: MuleteerError) -> TurnFailed:
        return TurnFailed(self.id, error.code, str(error), error.status, tuple(self.levels))


class Following:
    """One reader of a turn's events, at its own pace."""

    def __init__(self, turn: Turn) -> None:
        self._turn, self._told, self._read = turn, turn.told, 0

    async def next(self) -> Event:
        """The next event, also where one wait for it was given up; nothing comes after the outcome."""
        while self._read == len(self._told):
            await self._turn.news.wait()
        self._read += 1
        return self._told[self._read - 1]
