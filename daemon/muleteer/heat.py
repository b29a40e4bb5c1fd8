"""Heat and voltage: when the board suffers, background work waits and fewer threads decode.

What is decided is pure: readings in, causes out, with hysteresis; telling the engine stands beside it. A
board that tells nothing is left alone. Knows nothing of sensors (`sensors.py`) and of what the engine does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from enum import Enum
from typing import Protocol

from muleteer.engine.protocol import EngineStatus
from muleteer.sensors import Reading

log = logging.getLogger(__name__)

COOLED_DEGREES = 5.0  # below `hot`; less would swing with every request, more is not reached in summer
QUIET_READINGS = 3  # in a row without a cause: the firmware's bits come and go within seconds
POLL_SECONDS = 5.0  # a processor under full load gains a degree or two in that


class Cause(Enum):
    """Why the board is spared, in words."""

    HOT = "the processor is hot"
    THROTTLED = "the firmware throttles the processor"
    UNDERVOLTAGE = "the supply voltage is too low"


class Heat:
    """From readings to causes. `hot` in degrees Celsius; it may be changed."""

    def __init__(self, hot: float) -> None:
        self.hot = hot
        self._quiet = 0
        self.causes: tuple[Cause, ...] = ()

    @property
    def slow(self) -> bool:
        """Whether fewer threads should decode; they do not help a weak supply that is not hot."""
        return bool(self.causes) and self.causes != (Cause.UNDERVOLTAGE,)

    def step(self, reading: Reading) -> bool:
        """Take one reading; whether the causes changed. They end when it has cooled and been quiet."""
        causes = tuple(self._causes(reading))
        self._quiet = 0 if causes else self._quiet + 1
        if causes == self.causes or (not causes and self._quiet < QUIET_READINGS):
            return False
        self.causes = causes
        return True

    def _causes(self, reading: Reading) -> Iterator[Cause]:
        limit = self.hot - COOLED_DEGREES if Cause.HOT in self.causes else self.hot
        if reading.celsius is not None and reading.celsius >= limit:
            yield Cause.HOT
        if reading.throttled:
            yield Cause.THROTTLED
        if reading.undervoltage:
            yield Cause.UNDERVOLTAGE


class Adjustable(Protocol):
    """The part of the engine that is used here."""

    def status(self) -> EngineStatus: ...
    def set_threads(self, number: int) -> None: ...
    def defer(self, reason: str) -> None: ...


class Cooling:
    """Looks at the board every `POLL_SECONDS` and spares it. `read` may block; `pause` waits seconds."""

    def __init__(
        self,
        engine: Adjustable,
        hot: float,
        read: Callable[[], Reading],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._engine, self._read, self._pause = engine, read, pause
        self._heat = Heat(hot)
        self._last = Reading()
        self._full = 0  # threads to go back to; 0 while nothing is changed

    def limit(self, hot: float) -> None:
        """Another limit from the next reading on, in degrees Celsius."""
        self._heat.hot = hot

    def report(self) -> dict[str, object]:
        """The last reading: `celsius` (None: not known), `throttled`, `undervoltage`."""
        last = self._last
        return {
            "celsius": last.celsius,
            "throttled": last.throttled,
            "undervoltage": last.undervoltage,
        }

    async def run(self) -> None:
        """Look, act, pause; until cancelled."""
        reading = await asyncio.to_thread(self._read)
        if reading.celsius is None:
            log.info("This board has no temperature sensor that can be read.")
        else:
            log.info("The processor is at %s.", _degrees(reading))
        while True:
            self.look(reading)
            await self._pause(POLL_SECONDS)
            reading = await asyncio.to_thread(self._read)

    def look(self, reading: Reading) -> None:
        """Act on one reading; a change is logged once."""
        self._last = reading
        changed = self._heat.step(reading)
        threads = self._adjust()
        if changed:
            reason = self._reason()
            self._engine.defer(reason)
            if reason:
                log.warning("Background work waits: %s%s.", reason, threads)
            else:
                log.info("Background work goes on: the processor is at %s%s.", _degrees(reading), threads)

    def _reason(self) -> str:
        words = " and ".join(cause.value for cause in self._heat.causes)
        return f"{words} ({_degrees(self._last)})" if words else ""

    def _adjust(self) -> str:
        """Half the threads while it is hot or throttled, then all again; what was done, in words. An engine
        that is not loaded yet is adjusted when it is."""
        status = self._engine.status()
        now = status.threads or (status.properties.threads if status.properties else 0)
        if self._heat.slow and not self._full and now:
            self._full, wanted = now, max(1, now // 2)
        elif not self._heat.slow and self._full:
            self._full, wanted = 0, self._full
        else:
            return ""
        self._engine.set_threads(wanted)
        return f", with {wanted} threads instead of {now}"


def _degrees(reading: Reading) -> str:
    return "a temperature it does not tell" if reading.celsius is None else f"{reading.celsius:.0f} °C"
