"""`POST /v1/skills/HANDLE` and `/v1/tools/HANDLE`, on a harness with a scripted brain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.catalogue.renewal import Renewal
from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.health import Health
from muleteer.gateway.steering import steering_routes
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.catalogue.test_stock import Home
from tests.gateway.scripted import StubEngine
from tests.harness.scripted import ScriptedBrain
from tests.test_skills import skill


@pytest.fixture
def health() -> Health:
    health = Health(StubEngine())
    health.enter("ready")
    return health


@pytest.fixture
async def client(tmp_path: Path, health: Health) -> AsyncIterator[httpx.AsyncClient]:
    home = Home(tmp_path)
    home.tool("night_lamp")
    skill(home.skills, "evening", "Ask @night-lamp.")
    harness = Harness(ScriptedBrain(), home.take(), Budgets())
    renewal = Renewal(home.stock, harness, lambda: None)
    app = Starlette(
        routes=steering_routes(renewal, health), exception_handlers={MuleteerError: replies.on_fault}
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://muleteer") as client:
        yield client


async def test_off_and_on(client: httpx.AsyncClient) -> None:
    off = await client.post("/v1/tools/night_lamp", json={"enabled": False})
    assert off.status_code == 200
    assert off.json() == {
        "name": "night_lamp",
        "handle": "night-lamp",
        "state": "disabled",
        "reason": "Turned off; `muleteer tools enable night-lamp` brings it back.",
        "origin": off.json()["origin"],
        "on_disk": "night-lamp",
        "tokens": None,
    }
    on = (await client.post("/v1/tools/night-lamp", json={"enabled": True})).json()
    assert (on["state"], on["reason"]) == ("enabled", "")
    assert on["tokens"]["agent"] > 0


async def test_a_skill_gets_another_name(client: httpx.AsyncClient) -> None:
    renamed = (await client.post("/v1/skills/evening", json={"name": "night-time"})).json()
    assert (renamed["handle"], renamed["on_disk"], renamed["state"]) == ("night-time", "evening", "enabled")


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (
            "tools/night-lmp",
            {"enabled": True},
            "There is no tool @night-lmp (near: @night-lamp); ",
        ),
        ("tools/night-lamp", {}, 'The body must hold either "enabled" or "name"'),
        ("tools/night-lamp", {"enabled": True, "name": "x"}, 'The body must hold either "enabled" or "name"'),
        ("tools/night-lamp", {"enabled": "yes"}, "The body is wrong (enabled: "),
        ("tools/night-lamp", {"state": "on"}, "The body is wrong (state: "),
        ("skills/evening", {"name": "night-lamp"}, "@night-lamp is a tool already"),
    ],
)
async def test_what_cannot_be_done_is_a_sentence(
    client: httpx.AsyncClient, path: str, body: dict[str, object], sentence: str
) -> None:
    reply = await client.post(f"/v1/{path}", json=body)
    assert reply.status_code == 400
    assert reply.json()["error"]["message"].startswith(sentence)


async def test_while_the_model_loads_nothing_is_changed(client: httpx.AsyncClient, health: Health) -> None:
    health.enter("loading", "the model is loading")
    reply = await client.post("/v1/tools/night-lamp", json={"enabled": False})
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "loading")
