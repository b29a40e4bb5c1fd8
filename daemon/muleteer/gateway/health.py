"""What state the daemon is in, and waiting until a turn can be served.

Knows the phase of the daemon's life and reads the engine's status. An engine that has given up is tried
again when somebody wants a turn: what was wrong (memory, a disk) may have passed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal, Protocol

from muleteer.engine.protocol import EngineStatus
from muleteer.errors import EngineError, LoadingError, ShuttingDownError

Phase = Literal["starting", "loading", "ready", "no model", "stopping"]
State = Literal["starting", "loading", "ready", "degraded", "failed", "no model", "stopping"]

RETRY_SECONDS = 5.0  # hint to clients; a small model loads in that, a large one wants a few tries


class Supervised(Protocol):
    """The part of the engine that is used here."""

    def status(self) -> EngineStatus: ...
    async def restart(self) -> None: ...


class Health:
    """The daemon's phase, moved only by `daemon.py`, and what follows from it and the engine's status. `now`
    tells seconds."""

    def __init__(self, engine: Supervised, now: Callable[[], float] = time.monotonic) -> None:
        self._engine, self._now = engine, now
        self._since = now()
        self._phase: Phase = "starting"
        self._reason = "the daemon is starting"
        self._settled = asyncio.Event()

    def enter(self, phase: Phase, reason: str = "") -> None:
        """Everyone who waits in `serving` is answered at `ready`, `no model` and `stopping`."""
        self._phase, self._reason, self._since = phase, reason, self._now()
        if phase in ("ready", "no model", "stopping"):
            self._settled.set()

    def report(self) -> tuple[State, str]:
        """The state, and why it is that. `degraded`: the engine is coming back."""
        engine = self._engine.status()
        if self._phase == "loading":
            return self._phase, f"{self._reason}, for {self._now() - self._since:.0f} s now"
        if self._phase != "ready":
            return self._phase, self._reason
        if engine.state == "ready":
            return "ready", ""
        if engine.state == "unloaded":
            return "ready", "the model is unloaded, since nobody used it; the next turn loads it"
        if engine.state in ("failed", "stopped"):
            return "failed", engine.reason or "the engine has stopped"
        return "degraded", engine.reason or "the engine is starting again"

    async def serving(self, seconds: float) -> None:
        """Return when a turn may begin; a degraded engine counts, since it takes the turn when it is back.

        Waits at most that long. Raises `LoadingError`, `ShuttingDownError`, or `EngineError` when
        the engine had given up and is only now being started again.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._settled.wait()
        except TimeoutError:
            raise LoadingError(f"Not ready yet: {self._reason}; ask again soon.", RETRY_SECONDS) from None
        state, reason = self.report()
        if state == "stopping":
            raise ShuttingDownError("The daemon is stopping; ask again when it is back.")
        if state == "no model":
            raise EngineError(f"No turn can be served here: {reason}.")
        if state == "failed":
            await self._engine.restart()
            raise EngineError(f"The engine had given up and is being started again; ask again soon. {reason}")
