"""Checking skills over HTTP: the form, the handles, and what a model tells of tokens and examples."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.errors import EngineError, MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.checks import check_route
from muleteer.gateway.health import Health
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.gateway.scripted import StubEngine
from tests.harness.scripted import Choose, ScriptedBrain


@tool(effect="read", examples=("what time is it",))
def clock(place: str = "") -> Result:
    """Tell the time.

    place: a city
    """
    return Result.ok("noon")


@tool(effect="read")
def ping() -> Result:
    """Answer."""
    return Result.ok("here")


TEXT = """---
name: hours
description: About the hours.
metadata:
  examples: [say when, say where]
{more}---
Ask @{mention}, then @ping. {words}
"""


def text(mention: str = "clock", words: str = "", more: str = "") -> str:
    return TEXT.format(mention=mention, words=words, more=more)


@dataclass
class Checked:
    client: httpx.AsyncClient
    brain: ScriptedBrain
    health: Health

    async def check(self, given: str, name: str = "hours") -> dict[str, Any]:
        body = {"skills": [{"name": name, "text": given}]}
        found = (await self.client.post("/v1/checks", json=body)).json()
        assert isinstance(found, dict)
        return found

    async def problems(self, given: str, name: str = "hours") -> list[dict[str, str]]:
        found: list[dict[str, str]] = (await self.check(given, name))["skills"][0]["problems"]
        return found


@pytest.fixture
async def checked() -> AsyncIterator[Checked]:
    catalogue = Catalogue({}, Toolbox.of([clock, ping]))
    brain, health = ScriptedBrain(), Health(StubEngine())
    health.enter("ready")
    app = Starlette(
        routes=[check_route(lambda: catalogue, brain, Budgets(), health)],
        exception_handlers={MuleteerError: replies.on_fault},
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        yield Checked(client, brain, health)
    assert catalogue.skills == {}


async def test_a_sound_skill_is_measured(checked: Checked) -> None:
    checked.brain.script.extend([Choose({"hours": 0.9}), Choose({"hours": 0.5, "clock": 0.45})])
    found = await checked.check(text())
    assert (found["measured"], found["reason"]) == (True, "")
    assert found["skills"][0]["problems"] == []
    assert found["skills"][0]["tokens"].keys() == {"follower", "planner"}


async def test_an_example_that_leads_elsewhere_is_named(checked: Checked) -> None:
    checked.brain.script.extend([Choose({"clock": 0.9}), Choose({"reply": 0.9})])
    assert await checked.problems(text()) == [
        {"kind": "route", "text": 'the example "say when" leads to @clock'},
        {"kind": "route", "text": 'the example "say where" leads to @reply'},
    ]


async def test_what_is_wrong_without_a_model_is_told_first(checked: Checked) -> None:
    assert [each["kind"] for each in await checked.problems(text("clok"))] == ["handle"]
    assert [each["kind"] for each in await checked.problems(text(), "others")] == ["form"]
    assert [each["kind"] for each in await checked.problems("no front matter")] == ["form"]


async def test_too_many_tokens_are_counted(checked: Checked) -> None:
    checked.brain.script.extend([Choose({"hours": 0.9}), Choose({"hours": 0.9})])
    (long,) = await checked.problems(text(words="word " * 3000))
    assert long["kind"] == "tokens"
    assert "budgets.follower_prompt - budgets.message leaves" in long["text"]
    checked.brain.script.extend([Choose({"hours": 0.9}), Choose({"hours": 0.9})])
    (own,) = await checked.problems(text(more="  budget: 3\n"))
    assert own["text"].endswith("but metadata.budget is 3")


async def test_without_an_engine_the_rest_is_checked(checked: Checked) -> None:
    checked.brain.script.append(EngineError("The engine failed."))
    found = await checked.check(text())
    assert (found["measured"], found["reason"]) == (False, "The engine failed.")
    checked.health.enter("loading", "the model is loading")
    found = await checked.check(text("clok"))
    assert not found["measured"]
    assert found["reason"].startswith("the model is loading")
    assert found["skills"][0]["problems"][0]["kind"] == "handle"
