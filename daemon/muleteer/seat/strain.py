"""Why this device would rather not drive now: it has no model, or not yet, it is hot, on battery or busy.

Asks the engine's status and the battery; what follows is the election's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import psutil

from muleteer.engine.protocol import EngineStatus

NO_MODEL = "it has no model, so it can do no background work"
BUSY_SECONDS = 60.0  # somebody has been waiting for the engine all that time


class Supervised(Protocol):
    """The part of the engine that is used here."""

    def status(self) -> EngineStatus: ...


class Strain:
    """`state` is the daemon's word for what it can do now."""

    def __init__(self, engine: Supervised, state: Callable[[], str]) -> None:
        self._engine, self._state = engine, state
        self._free = 0.0

    async def reason(self) -> str:
        """A clause, or nothing."""
        now = asyncio.get_running_loop().time()
        status = self._engine.status()
        if not status.queued:
            self._free = now
        if (state := self._state()) != "ready":
            return NO_MODEL if state == "no model" else "its model is not ready"
        if status.deferred:
            return status.deferred
        if now - self._free > BUSY_SECONDS:
            return "it is busy"
        return await asyncio.to_thread(_on_battery)


def _on_battery() -> str:
    battery = psutil.sensors_battery()
    return "it runs on battery" if battery is not None and battery.power_plugged is False else ""
