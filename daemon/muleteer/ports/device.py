"""One device and its queue: who may ask, in which order, and what a question becomes.

The one owner of its link: a request has the device for itself from the first byte to the last, in a thread,
and a few more may wait. Who gives up while waiting is forgotten; who gives up later does not stop the thread,
and the device stays taken until that has ended.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from muleteer.calling.threads import in_thread
from muleteer.ports.link import Connect, Link, SilenceError
from muleteer.ports.protocol import State, UnclearError, confirmed, measured, told
from muleteer.ports.settings import DeviceSettings, SwitchSettings
from muleteer.services import Reading, Told

WAITING = 4  # requests; each may take seconds, so who comes after them would only give up
READ_SECONDS = 30.0  # for all that one request reads; half of what a tool's call may take

T = TypeVar("T")


class Device:
    """The device called `name`. Problems are clauses that begin with it, also those in an `OSError`."""

    def __init__(self, name: str, settings: DeviceSettings, connect: Connect) -> None:
        self._name = name
        self._settings = settings
        self._link = Link(connect, settings)
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._closed = False
        self._switched: dict[str, float] = {}  # monotonic seconds by switch

    async def read(self, names: Sequence[str]) -> list[Reading]:
        """One reading for each name, of sensors and of switches that tell their state. Raises nothing."""
        try:
            return await self._alone(lambda: self._read(names))
        except OSError as error:
            return [Reading(name, problem=str(error)) for name in names]

    async def switch(self, name: str, wanted: State) -> Told:
        """Raises `OSError` when nothing was sent."""
        return await self._alone(lambda: self._switch(name, wanted))

    async def send(self, text: str) -> Told:
        """Raises `OSError` when not all of it was sent."""
        return await self._alone(lambda: self._send(text))

    async def close(self) -> None:
        """Close the port once the request that has the device is over; who waits for it is refused."""
        self._closed = True
        async with self._turn:
            self._link.close()

    async def _alone(self, work: Callable[[], T]) -> T:
        if self._waiting >= WAITING:
            raise OSError(self._clause(f"is busy: {WAITING} requests are waiting for it already"))
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        if self._closed:
            self._turn.release()
            raise OSError(self._clause("is not used any more"))
        try:
            return await in_thread(work, f"serial {self._name}", self._turn.release)
        except OSError as error:
            raise OSError(self._clause(error)) from error

    def _clause(self, words: object) -> str:
        return f"the device {self._name} {words}"

    def _read(self, names: Sequence[str]) -> list[Reading]:
        readings, down, end = [], "", time.monotonic() + READ_SECONDS
        for name in names:
            if not down and time.monotonic() > end:
                down = self._clause("was not asked any more: the others took too long")
            if down:
                readings.append(Reading(name, problem=down))
                continue
            try:
                readings.append(self._measure(name))
            except UnclearError as error:
                readings.append(Reading(name, problem=self._clause(error), answered=True))
            except OSError as error:  # what does not answer one question is not asked the next
                down = self._clause(error)
                readings.append(Reading(name, problem=down))
        return readings

    def _measure(self, name: str) -> Reading:
        self._link.prepare()
        if sensor := self._settings.sensors.get(name):
            if sensor.request:
                self._link.tell(sensor.request)
            return self._link.hear(measured(name, sensor))
        state = self._state(self._settings.switches[name])
        return Reading(name, state, state)

    def _state(self, switch: SwitchSettings) -> State:
        self._link.tell(switch.state)
        return self._link.hear(told(switch))

    def _switch(self, name: str, wanted: State) -> Told:
        switch = self._settings.switches[name]
        rested = time.monotonic() - self._switched.get(name, -switch.pause)
        if rested < switch.pause:
            wait = max(1, round(switch.pause - rested))
            return Told(name, False, "", f"it was switched {rested:.0f} s ago and must rest {wait} s more")
        self._link.prepare()
        self._switched[name] = time.monotonic()
        try:
            self._link.tell(switch.on if wanted == "on" else switch.off)
            state = self._outcome(switch, wanted)
        except (OSError, UnclearError) as error:
            return Told(name, True, "", self._clause(error))
        if not state:
            return Told(name, True, "", "the settings have no when_on and when_off for it")
        return Told(name, True, state, "" if state == wanted else f"the device says that it is {state}")

    def _outcome(self, switch: SwitchSettings, wanted: State) -> State | None:
        """What the device says after it was told; None if it has no words for that."""
        if not switch.when_on:
            return None
        if not switch.state:
            return self._link.hear(confirmed(switch, wanted))
        try:
            (state,) = self._link.hear(_first(confirmed(switch, wanted)))
            if state:
                return state
        except SilenceError:
            pass  # not every device answers an order; the state tells
        self._link.prepare()
        return self._state(switch)

    def _send(self, text: str) -> Told:
        self._link.prepare()
        self._link.tell(text)
        try:
            return Told(self._name, True, self._link.hear(str))
        except (OSError, UnclearError) as error:
            return Told(self._name, True, "", self._clause(error))


def _first(meaning: Callable[[str], State | None]) -> Callable[[str], tuple[State | None]]:
    """What the first line means, which may be nothing."""
    return lambda line: (meaning(line),)
