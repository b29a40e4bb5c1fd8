"""What is against a background turn at this moment, in clauses: another driver, heat, battery, talk.

Knows where to look. What follows from it is decided in `deferring.py`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

import psutil

from muleteer.background.deferring import Look
from muleteer.engine.protocol import EngineStatus
from muleteer.services import Seat
from muleteer.settings.background import BackgroundSettings


class Supervised(Protocol):
    """The part of the engine that is used here."""

    def status(self) -> EngineStatus: ...


class Talk(Protocol):
    """People's turns: how many run or wait, and monotonic seconds when the last one ended (0: none did)."""

    @property
    def busy(self) -> int: ...
    @property
    def ended_at(self) -> float: ...


class Outlook:
    """`state` is the daemon's state, and why it is that."""

    def __init__(
        self,
        settings: BackgroundSettings,
        seat: Seat,
        engine: Supervised,
        talk: Talk,
        state: Callable[[], tuple[str, str]],
    ) -> None:
        self.settings, self._seat, self._engine = settings, seat, engine
        self._talk, self._state = talk, state

    async def look(self) -> Look:
        driver = await self._seat.driver()
        return Look("" if driver.here else driver.reason.rstrip("."), await self._strain(), self._talking())

    async def _strain(self) -> str:
        state, reason = self._state()
        if state != "ready":
            return reason.rstrip(".") or state
        if deferred := self._engine.status().deferred:
            return deferred
        if not self.settings.battery and await asyncio.to_thread(on_battery):
            return "the device runs on battery"
        return ""

    def _talking(self) -> str:
        if self._talk.busy:
            return "somebody is talking"
        ended = self._talk.ended_at
        recent = ended and time.monotonic() - ended < self.settings.quiet
        return "somebody was talking just now" if recent else ""


def on_battery() -> bool:
    """Whether this machine has a battery and no other power."""
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return battery is not None and battery.power_plugged is False
