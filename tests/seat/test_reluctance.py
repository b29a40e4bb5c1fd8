"""A device that would rather not drive: it drives if no other can, says so, and does not ask for the seat."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.engine.protocol import EngineStatus
from muleteer.errors import SeatError
from muleteer.seat.strain import NO_MODEL, Strain
from tests.seat.neighbours import Neighbour, household, neighbours, pair, together, until

HOT = "the processor is hot"


@contextlib.asynccontextmanager
async def strained(*devices: Neighbour, reason: str = HOT) -> AsyncIterator[None]:
    """These devices would rather not drive, until the end of the block."""

    async def strain() -> str:
        return reason

    watching = [asyncio.create_task(each.seat.watch(strain)) for each in devices]
    await until(lambda: all(each.seat.machine.election.reluctance for each in devices))
    yield
    for task in watching:
        task.cancel()
    await asyncio.wait(watching)


async def test_it_hands_over_with_its_reason_and_does_not_take_the_seat_back(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as devices, strained(devices[0]):
        first, second = devices
        await until(lambda: second.drives() and together(devices))
        with pytest.raises(SeatError, match=f"would hand the seat back to .* at once: {HOT}"):
            await first.seat.take()
        assert second.drives()


async def test_a_person_may_choose_between_two_that_would_both_rather_not(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as devices, strained(*devices):
        first, second = devices
        await until(lambda: not first.seat.machine.election.driver_is_willing or first.drives())
        follower = second if first.drives() else first
        await until(lambda: not follower.seat.machine.election.driver_is_willing)
        await follower.seat.take()
        await until(lambda: follower.drives() and together(devices))


async def test_a_device_without_a_model_says_alone_that_it_does_no_background_work(tmp_path: Path) -> None:
    class Engine:
        def status(self) -> EngineStatus:
            return EngineStatus("stopped")

    assert await Strain(Engine(), lambda: "no model").reason() == NO_MODEL
    assert await Strain(Engine(), lambda: "loading").reason() == "its model is not ready"
    async with neighbours(tmp_path, 1) as [device], strained(device, reason=NO_MODEL):
        await until(device.drives)
        assert device.seat.view.now().reason.endswith(f"it would rather not: {NO_MODEL}.")


async def test_who_joins_is_told_who_drives(tmp_path: Path) -> None:
    async with neighbours(tmp_path, 2) as [first, second]:
        await until(first.drives)
        await pair(first, second)
        assert second.seat.view.now().device == first.id
