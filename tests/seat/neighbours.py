"""Devices of one household in one process, on real connections of this machine, without mDNS.

Knows how they are made and paired; not what a test does to them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from inspect import isawaitable
from pathlib import Path

from muleteer.broadcast import Broadcast
from muleteer.discovery.mdns import Discovery
from muleteer.seat.link import Address
from muleteer.seat.service import SeatService
from muleteer.settings.seat import SeatSettings

DEADLINE = 30.0  # seconds for whatever is waited for; a busy machine is forgiven


class Neighbour:
    """A device whose state is in `folder`; it can be started again. `heard` are its events."""

    def __init__(self, folder: Path, **settings: object) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.broadcast = Broadcast()
        self.settings = SeatSettings.model_validate({"port": 0, "mdns": False, **settings})
        self.seat = SeatService(self.settings, folder, self.broadcast, Discovery("", enabled=False))

    @property
    def id(self) -> str:
        return self.seat.identity.id

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.seat.peers.port}"

    def drives(self) -> bool:
        return self.seat.view.now().here

    async def start_again(self, *others: Neighbour) -> None:
        """With what is on disk, as after a power cut: what was running is gone without a word. It is told
        where the others are, as mDNS would."""
        for task in list(self.seat._tasks):
            task.cancel()
        await self.seat.network.close()
        await self.seat._claims.close()
        await self.seat._inbox.close()
        self.seat = SeatService(self.settings, self.folder, self.broadcast, Discovery("", enabled=False))
        await self.seat.open()
        for other in others:
            self.seat.peers.found(other.id, [Address("127.0.0.1", other.seat.peers.port)])


@asynccontextmanager
async def neighbours(folder: Path, count: int, **settings: object) -> AsyncIterator[list[Neighbour]]:
    """That many devices, each alone."""
    devices = [Neighbour(folder / str(number), **settings) for number in range(count)]
    for device in devices:
        await device.seat.open()
    try:
        yield devices
    finally:
        for device in devices:
            await device.seat.close()


@asynccontextmanager
async def household(folder: Path, count: int, **settings: object) -> AsyncIterator[list[Neighbour]]:
    """That many devices, all enrolled; the first one drives."""
    async with neighbours(folder, count, **settings) as devices:
        await until(devices[0].drives)
        for device in devices[1:]:
            await pair(devices[0], device)
            await until(lambda: together(devices[: devices.index(device) + 1]))  # noqa: B023
        yield devices


async def pair(shows: Neighbour, types: Neighbour) -> None:
    code = str((await shows.seat.invite())["code"])
    await types.seat.join(code, shows.address)


def together(devices: Sequence[Neighbour]) -> bool:
    """Whether one of them drives, all others follow it, and all are enrolled."""
    drivers = {each.seat.view.now().device for each in devices}
    ids = {each.id for each in devices}
    enrolled = all(set(each.seat.machine.election.membership.ids) == ids for each in devices)
    return (
        enrolled and len(drivers) == 1 and "" not in drivers and sum(each.drives() for each in devices) == 1
    )


async def until(holds: Callable[[], object]) -> None:
    """`holds` may be a coroutine function. There is no event for what several devices agree on."""
    async with asyncio.timeout(DEADLINE):
        while not ((await said) if isawaitable(said := holds()) else said):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
