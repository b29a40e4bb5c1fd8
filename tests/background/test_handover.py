"""The seat moves in the middle of a run, on real seats: one result is passed on, that of who drives."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from muleteer.skills import Catalogue
from tests.background.test_runner import SLOT, Household, made
from tests.seat.neighbours import Neighbour, household, together, until

pytestmark = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not here: apt-get install systemd"
)


@pytest.mark.parametrize(("skill", "passed_on"), [("morning", [[], ["done"]]), ("errand", [[], []])])
async def test_who_loses_the_seat_in_the_middle_passes_nothing_on(
    tmp_path: Path, catalogue: Catalogue, skill: str, passed_on: list[list[str]]
) -> None:
    async with household(tmp_path, 2) as devices:
        first, second = devices
        houses = [Household() for _ in devices]
        backgrounds = []
        for device, house in zip(devices, houses, strict=True):
            seat = device.seat
            background = made(house, catalogue, device.folder, seat=seat.slots, inbox=seat.results)
            seat.slots.repeats.by(background.again)
            backgrounds.append(background)
        run = asyncio.create_task(backgrounds[0].run(skill))
        await houses[0].began.wait()
        await second.seat.take()
        await until(lambda: second.drives() and together(devices))
        houses[0].hold.set()
        houses[1].hold.set()
        ended = await run
        assert (ended.state, ended.slot) == ("elsewhere", SLOT)
        await until(lambda: houses[1].passed_on if passed_on[1] else _told(second))
        assert [[each.state for each in house.passed_on] for house in houses] == passed_on
        assert houses[1].ran == (["morning"] if skill == "morning" else [])
        await until(lambda: _told(first))
        done = [entry.device for entry in await first.seat.results.entries() if entry.done]
        assert done == ([second.id] if skill == "morning" else [])


async def _told(device: Neighbour) -> bool:
    """Whether its inbox has a word of the run."""
    return bool(await device.seat.results.entries())
