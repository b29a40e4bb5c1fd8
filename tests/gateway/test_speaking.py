"""What a device that is spoken to asks of the daemon: a warm prompt, and the names of the house."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, cast

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.engine.protocol import Conversation, Use
from muleteer.errors import EngineError, MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.health import Health
from muleteer.gateway.speaking import MOST_NAMES, REST_SECONDS, Warmer, speaking_routes
from muleteer.harness.turn import Harness
from muleteer.services import Serial, Services
from muleteer.settings.sections import Budgets
from muleteer.skills import load_catalogue
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.gateway.scripted import StubEngine
from tests.harness.scripted import ScriptedBrain


@tool(effect="read", examples=("is it warm",))
def sensor(name: Literal["attic", "cellar"]) -> Result:
    """Read a sensor.

    name: which
    """
    return Result.ok(f"{name} is warm")


class Ports:
    """As many devices as the test says."""

    def __init__(self, *switches: str) -> None:
        self._switches = switches

    def names(self, kind: str) -> tuple[str, ...]:
        return self._switches if kind == "switches" else ()


class SlowBrain(ScriptedBrain):
    """Warms when it is let, or fails."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.fails = asyncio.Event(), False

    async def warm(self, prompt: Conversation) -> Use:
        await self.go.wait()
        if self.fails:
            raise EngineError("no")
        return await super().warm(prompt)


@dataclass
class House:
    client: httpx.AsyncClient
    brain: SlowBrain
    health: Health
    harness: Harness


@pytest.fixture
async def house() -> AsyncIterator[House]:
    brain, health = SlowBrain(), Health(StubEngine())
    health.enter("ready")
    harness = Harness(brain, load_catalogue([], Toolbox.of([sensor])), Budgets())
    await harness.measure()
    services = Services(serial=cast(Serial, Ports("garden pump", "attic")))
    app = Starlette(
        routes=speaking_routes(lambda: harness, services, health),
        exception_handlers={MuleteerError: replies.on_fault},
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://x") as client:
        yield House(client, brain, health, harness)


async def test_warming_is_answered_at_once_and_done_once(house: House) -> None:
    for began in (True, False, False):
        assert (await house.client.post("/v1/warm")).json() == {"warming": began}
    assert not house.brain.warmed
    house.brain.go.set()
    await _rest()
    assert house.brain.warmed == [house.harness.planner.prompt("")]


async def test_nothing_is_warmed_before_the_model_is_there(house: House) -> None:
    house.health.enter("loading", "the model is loading")
    assert (await house.client.post("/v1/warm")).json() == {"warming": False}


async def test_warming_rests_and_survives_a_failure(house: House) -> None:
    moment = 10.0
    warmer = Warmer(lambda: house.harness, house.health, lambda: moment)
    house.brain.fails = True
    house.brain.go.set()
    assert warmer.begin()
    await _rest()
    assert not warmer.begin()
    moment += REST_SECONDS
    house.brain.fails = False
    assert warmer.begin()
    await _rest()
    assert len(house.brain.warmed) == 1


async def test_the_names_of_the_house_are_told_each_once(house: House) -> None:
    assert (await house.client.get("/v1/names")).json() == {"names": ["garden pump", "attic", "cellar"]}


async def test_a_house_full_of_names_is_cut() -> None:
    harness = Harness(ScriptedBrain(), load_catalogue([], Toolbox.of([sensor])), Budgets())
    services = Services(serial=cast(Serial, Ports(*(f"lamp {n}" for n in range(1000)))))
    app = Starlette(routes=speaking_routes(lambda: harness, services, Health(StubEngine())))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://x") as client:
        names = (await client.get("/v1/names")).json()["names"]
    assert len(names) == MOST_NAMES
    assert names[0] == "lamp 0"


async def _rest() -> None:
    """Until warming has ended."""
    tasks = [task for task in asyncio.all_tasks() if task.get_name().startswith("warming")]
    await asyncio.gather(*tasks)
