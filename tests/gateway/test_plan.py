"""What a plan looks like over HTTP: why each handle, and nothing run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.health import Health
from muleteer.gateway.plan import plan_route
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.skills import load_catalogue
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.gateway.scripted import StubEngine
from tests.harness.scripted import Choose, ScriptedBrain

RAN: list[str] = []


@tool(effect="read", examples=("is the lamp on", "how warm is it"))
def sensor(name: str = "") -> Result:
    """Read a sensor.

    name: which
    """
    RAN.append("sensor")
    return Result.ok("warm")


@tool(effect="physical", examples=("turn on the lamp",))
def switch(name: str) -> Result:
    """Switch something.

    name: what
    """
    RAN.append("switch")
    return Result.ok("done")


@dataclass
class Planned:
    client: httpx.AsyncClient
    brain: ScriptedBrain
    health: Health

    async def post(self, **body: object) -> httpx.Response:
        return await self.client.post("/v1/plan", json=body)


@pytest.fixture
async def planned() -> AsyncIterator[Planned]:
    RAN.clear()
    brain, health = ScriptedBrain(), Health(StubEngine())
    health.enter("ready")
    harness = Harness(brain, load_catalogue([], Toolbox.of([sensor, switch])), Budgets())
    await harness.measure()
    app = Starlette(
        routes=[plan_route(lambda: harness, health)], exception_handlers={MuleteerError: replies.on_fault}
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        yield Planned(client, brain, health)


async def test_a_plan_says_what_it_would_do_and_why(planned: Planned) -> None:
    planned.brain.script.append(Choose({"sensor": 0.9, "reply": 0.1}))
    body = (await planned.post(message="is the lamp on")).json()
    assert body["handles"] == ["@sensor"]
    assert body["toolset"] == ["sensor"]
    assert body["way"] == "tool"
    assert body["ruled_out"] == {"@switch": "the message asks, and this changes something"}
    first = body["candidates"][0]
    assert first["handle"] == "@sensor"
    assert first["share"] == body["confidence"] > 0.5
    assert first["model"] == 0.9
    assert {each["handle"] for each in body["candidates"]} == {"@sensor", "@reply"}
    assert sum(each["share"] for each in body["candidates"]) == pytest.approx(1, abs=1e-3)
    assert [level["name"] for level in body["levels"]] == ["planner"]
    assert body["menu_tokens"] > 0
    assert body["shown"] == 2
    assert RAN == []


async def test_a_reply_is_a_plan_without_handles(planned: Planned) -> None:
    planned.brain.script.append(Choose({"reply": 1.0}))
    body = (await planned.post(message="tell me a joke")).json()
    assert (body["handles"], body["toolset"], body["way"]) == ([], [], "reply")


@pytest.mark.parametrize("message", ["", "   "])
async def test_no_message_is_refused(planned: Planned, message: str) -> None:
    answer = await planned.post(message=message)
    assert answer.status_code == 400
    assert "The message is empty" in answer.json()["error"]["message"]


async def test_a_message_that_no_turn_would_take_is_refused(planned: Planned) -> None:
    answer = await planned.post(message="word " * 500)
    assert answer.json()["error"]["message"] == ("The message has 500 tokens, but only 400 fit; shorten it.")


async def test_other_bodies_are_refused_with_an_example(planned: Planned) -> None:
    answer = await planned.post(text="hello")
    assert answer.status_code == 400
    assert '{"message": "Is the kitchen light on?"}' in answer.json()["error"]["message"]


async def test_without_a_model_no_plan_is_made(planned: Planned) -> None:
    planned.health.enter("loading", "the model is loading")
    answer = await planned.post(message="is the lamp on")
    assert answer.status_code == 503
    assert "No plan can be made now (loading)" in answer.json()["error"]["message"]
