"""A turn that carries out a skill by name: no planner, no other handle, nobody who could say yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.harness.events import Planned, TurnFailed, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.skills import Skill
from muleteer.tool import Result
from tests.harness.conftest import House
from tests.harness.scripted import Fill, ScriptedBrain


def skill(name: str, steps: str, mentions: tuple[str, ...], run: str = "") -> Skill:
    return Skill(name, f"About {name}.", steps, (), mentions, "", None, Path(f"{name}/SKILL.md"), run)


async def test_a_skill_runs_in_the_background_without_a_planner(house: House) -> None:
    brain = ScriptedBrain(
        Fill({"tool": "find_note", "instruction": "newest"}),
        Fill({"query": ""}),
        Fill({"tool": "clock", "instruction": "now"}),
        Fill({"place": ""}),
    )
    harness = Harness(brain, house.catalogue, Budgets())
    events = [event async for event in harness.run(skill="look-up", background=True)]
    assert events[1] == Planned(("look-up",), 1.0, 1)
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert last.handles == ("look-up",)
    assert "planner" not in [level.name for level in last.levels]
    assert brain.lanes == [True]
    assert brain.asked[0].messages[-1].content == "Find what the user told earlier."


async def test_only_what_the_skill_names_can_be_called(house: House) -> None:
    brain = ScriptedBrain(
        Fill({"tool": "keep", "instruction": "note tea"}),
        Fill({"tool": "ping", "instruction": "ping"}),
        Fill({"tool": "finish", "instruction": "done"}),
    )
    harness = Harness(brain, house.catalogue, Budgets())
    last = [event async for event in harness.run(skill="look-up", background=True)][-1]
    assert isinstance(last, TurnFinished)
    assert (last.calls, house.ran) == ((), [])


@pytest.mark.parametrize("name", ["", "clock", "no-such"])
async def test_the_background_has_no_turn_without_a_skill(house: House, name: str) -> None:
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets())
    last = [event async for event in harness.run("keep tea", skill=name, background=True)][-1]
    assert isinstance(last, TurnFailed)
    assert last.code == "bad_request"


async def test_what_needs_a_yes_is_refused_in_the_background_and_the_rest_is_done(house: House) -> None:
    house.catalogue.skills["log"] = skill("log", "1. @keep\n2. @clock", ("keep", "clock"), "all")
    brain = ScriptedBrain(Fill({"note": "tea"}), Fill({"place": ""}))
    harness = Harness(brain, house.catalogue, Budgets(), ("write",))
    last = [event async for event in harness.run(skill="log", background=True)][-1]
    assert isinstance(last, TurnFinished)
    assert last.answer == "keep needs a yes, and nobody can give one in the background.\nIt is noon."
    assert [call.tool for call in last.calls] == ["clock"]
    assert house.ran == [("clock", "")]


async def test_a_background_turn_whose_tool_finds_nothing_says_so_and_plans_nothing_else(
    house: House,
) -> None:
    house.results["find_note"] = [Result.unavailable("I could not open the notebook.")]
    house.catalogue.skills["due"] = skill("due", "1. @find-note", ("find-note",), "first")
    harness = Harness(ScriptedBrain(Fill({"query": ""})), house.catalogue, Budgets())
    last = [event async for event in harness.run(skill="due", background=True)][-1]
    assert isinstance(last, TurnFinished)
    assert last.answer == "I could not open the notebook."
