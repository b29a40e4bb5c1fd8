"""Running turns: a bounded number at once, each with its events, each ended when nobody wants it.

Knows the harness only as something that yields events. Does not know HTTP; `app.py` writes the events out.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from muleteer import session
from muleteer.engine.protocol import Message
from muleteer.errors import MuleteerError, ShuttingDownError
from muleteer.gateway import peer
from muleteer.gateway.health import Health
from muleteer.gateway.peer import Peer
from muleteer.gateway.places import Places
from muleteer.gateway.recent import KINDS, Recent, kind_of
from muleteer.gateway.running import Turn
from muleteer.gateway.tally import Tally
from muleteer.gateway.traces import told
from muleteer.harness.confirmation import Pending
from muleteer.harness.events import Event, Outcome, TurnFailed

log = logging.getLogger(__name__)

Begun = tuple[str, AsyncGenerator[Event, None]]  # what was said, and what comes of it

LOADING_WAIT = 10.0  # seconds a turn waits for the model at start; most clients give up after 30 or more


class Runs(Protocol):
    """The harness as the gateway uses it: `TurnStarted` first, an `Outcome` last. `take` is the question that
    a turn ended with, once, if `may` says so of the asker's id, and raises `NotOpenError`; `confirmed` goes
    on with the answer to it."""

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
    def take(self, turn: str, may: Callable[[str], bool]) -> Pending: ...
    def confirmed(self, pending: Pending, yes: bool) -> AsyncGenerator[Event, None]: ...


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
        recent: Recent | None = None,
    ) -> None:
        self._harness = harness
        self._health = health
        self._places = Places(limit)
        self._loading_wait = loading_wait
        self._ended = ended
        self._waiting = 0
        self._running: dict[Turn, Peer | None] = {}  # with who takes the place of it
        self._background: set[Turn] = set()
        self.recent, self.tally = recent or Recent(), Tally()
        self.traces = self.recent.traces
        self.ended_at = 0.0
        """Monotonic seconds of the end of a person's last turn; 0 if there was none."""
        self._counts: dict[str, int] = dict.fromkeys(KINDS, 0)

    def counts(self) -> dict[str, int]:
        """`running`, and `waiting` for the model, now. Since the start: `finished`, `asked` (ended with a
        question), `refused` (by the request's own fault), `failed`, and `cancelled` (the client left, or
        somebody stopped it)."""
        return {"running": len(self._running), "waiting": self._waiting, **self._counts}

    @property
    def busy(self) -> int:
        """People's turns that run or wait for the model."""
        return self._waiting + len(self._running.keys() - self._background)

    def background(self, skill: str) -> AbstractAsyncContextManager[Turn]:
        """A turn of a skill that nobody waits for. Raises as `start`."""
        return self._begin(lambda: ("", self._harness.run(skill=skill, background=True)), skill)

    def start(
        self, message: str, history: Sequence[Message], confirm: Collection[str] = (), brain: str = ""
    ) -> AbstractAsyncContextManager[Turn]:
        """A running turn, stopped at the end of the block at the latest.

        Waits a bounded time for a model that is still loading. Raises `EngineBusyError` when all places
        are taken, `TooManyError` when the peer has its share of them, and what `Health.serving` raises.
        """
        return self._begin(
            lambda: (message, self._harness.run(message, history, confirm=confirm, brain=brain))
        )

    def host(self, begin: Callable[[], Begun]) -> AbstractAsyncContextManager[Turn]:
        """A turn of a guest, begun once there is a place for it. Raises as `start`, and as `begin` does."""
        return self._begin(begin)

    def confirm(self, turn: str, yes: bool) -> AbstractAsyncContextManager[Turn]:
        """The turn that goes on with the answer to its question. Raises as `start`, and `NotOpenError`, also
        where the question is not for whoever asks now."""
        owns = peer.current.get().owns

        def go_on() -> Begun:
            pending = self._harness.take(turn, owns)
            return pending.message, self._harness.confirmed(pending, yes)

        return self._begin(go_on)

    @asynccontextmanager
    async def _begin(self, begin: Callable[[], Begun], skill: str = "") -> AsyncIterator[Turn]:
        who = None if skill else peer.current.get()
        self._places.take(who)
        session.asker.set(who.id if who else "")
        self._waiting += 1
        try:
            await self._health.serving(self._loading_wait)
            message, events = begin()
        except BaseException:
            self._places.leave(who)
            raise
        finally:
            self._waiting -= 1
        turn = Turn(message, self.traces.watched(events, skill), self._count, self.recent.add, skill)
        self._running[turn] = who
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
        self._places.leave(self._running.pop(turn))
        if turn not in self._background:
            self.ended_at = time.monotonic()
        self._background.discard(turn)
        if (outcome := turn.outcome) is None:
            return
        kind = kind_of(outcome)
        self._counts[kind] += 1
        self.tally.add(turn.levels, turn.calls)
        if kind != "cancelled":
            self._ended(outcome, turn.message)
        why = f" ({outcome.code})" if isinstance(outcome, TurnFailed) and kind != "cancelled" else ""
        log.info("turn %s %s%s", turn.id or "?", kind, why, extra=told(turn.id, turn.outcome))
