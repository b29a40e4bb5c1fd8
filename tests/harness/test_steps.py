"""Skills that code carries out: `all` says what each tool said, `first` stops where something was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from muleteer.catalogue.given import given_arguments
from muleteer.errors import SkillError
from muleteer.harness.events import TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.skills import Skill
from muleteer.tool import Notes, Result
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain

BRIEF = Choose({"brief": 1.0})


def add(house: House, run: str, steps: str, *mentions: str) -> None:
    house.catalogue.skills["brief"] = Skill(
        "brief", "A brief.", steps, (), mentions, "", None, Path("x"), run, given_arguments(steps)
    )


async def finished(house: House, *script: Scripted) -> TurnFinished:
    brain = ScriptedBrain(BRIEF, *script)
    harness = Harness(brain, house.catalogue, Budgets())
    last = [event async for event in harness.run("what is new about tea")][-1]
    assert isinstance(last, TurnFinished), last
    assert not brain.script
    return last


async def test_given_arguments_cost_no_level(house: House) -> None:
    add(house, "all", '1. @clock `{"place": "Rome"}`\n2. @find-note `{"query": ""}`', "clock", "find-note")
    house.results["find_note"] = [Result.ok("Two notes: a7; b8.", Notes(("a7", "b8")))]
    turn = await finished(house)
    assert {level.name for level in turn.levels} == {"planner"}
    assert house.ran == [("clock", "Rome"), ("find_note", "")]
    assert turn.answer == "It is noon.\nTwo notes: a7; b8.", "each tool's own sentence, none rewritten"


async def test_open_arguments_are_filled_from_the_message(house: House) -> None:
    add(house, "all", "1. @clock `{}`\n2. @find-note", "clock", "find-note")
    turn = await finished(house, Fill({"query": "tea"}))
    assert list(dict.fromkeys(level.name for level in turn.levels)) == ["planner", "agent:find_note"]
    assert house.ran == [("clock", ""), ("find_note", "tea")]


async def test_all_goes_on_after_failures_and_says_them(house: House) -> None:
    add(house, "all", "1. @clock `{}`\n2. @ping `{}`\n3. @find-note", "clock", "ping", "find-note")
    house.results["clock"] = [Result.error("The clock is broken.")]
    house.results["ping"] = [Result.empty("Nobody is there.")]
    turn = await finished(house, Fill({"query": "x"}, finish="length"))
    assert turn.answer == (
        "The clock is broken.\nNobody is there.\n"
        "find_note gave no result: error: the arguments of find_note were too long; ask for less at once."
    )


async def test_a_tool_that_errs_without_end_does_not_keep_the_others_from_running(house: House) -> None:
    add(house, "all", "1. @clock\n2. @ping `{}`", "clock", "ping")
    house.results["clock"] = [Result.error(f"Wrong {number}.") for number in range(9)]
    turn = await finished(house, *(Fill({"place": str(number)}) for number in range(3)))
    assert turn.answer == "Wrong 2.\nI am here."


async def test_first_stops_at_what_was_found_and_says_that_alone(house: House) -> None:
    add(house, "first", "1. @find-note\n2. @clock `{}`\n3. @ping `{}`", "find-note", "clock", "ping")
    house.results["find_note"] = [Result.empty("There is no note.")]
    turn = await finished(house, Fill({"query": "tea"}))
    assert turn.answer == "It is noon."
    assert [(call.tool, call.status) for call in turn.calls] == [("find_note", "empty"), ("clock", "ok")]


async def test_what_could_not_be_looked_at_is_said_where_nothing_else_was_found(house: House) -> None:
    add(house, "first", "1. @find-note\n2. @clock `{}`", "find-note", "clock")
    house.results["find_note"] = [Result.unavailable("I could not open the notebook.")]
    house.results["clock"] = [Result.empty("No file is about tea.")]
    turn = await finished(house, Fill({"query": "tea"}))
    assert turn.answer == "I could not open the notebook. No file is about tea."


async def test_a_search_beside_a_deed_is_no_search(house: House) -> None:
    add(house, "first", "1. @find-note", "find-note")
    brain = ScriptedBrain(
        Choose({"brief": 0.5, "keep": 0.45}),
        Fill({"tool": "find_note", "instruction": "tea"}),
        Fill({"query": "tea"}),
        Fill({"tool": "keep", "instruction": "tea"}),
        Fill({"note": "tea"}),
        Fill({"tool": "finish"}),
    )
    events = [event async for event in Harness(brain, house.catalogue, Budgets()).run("please")]
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert [call.tool for call in last.calls] == ["find_note", "keep"]


async def test_a_skills_own_budget_ends_it_with_what_was_found(house: House) -> None:
    add(house, "all", "1. @ping `{}`\n2. @clock\n3. @find-note", "ping", "clock", "find-note")
    house.catalogue.skills["brief"] = replace(house.catalogue.skills["brief"], budget=7)
    turn = await finished(house, Fill({"place": ""}))
    assert [call.tool for call in turn.calls] == ["ping", "clock"], "one request takes seven tokens here"
    assert turn.answer == "I am here.\nIt is noon."


def test_arguments_that_are_no_json_or_come_twice_are_refused() -> None:
    assert given_arguments("1. @a `{}`\n2. @b for `{}`, @c, `@d {}`") == {"a": {}}
    with pytest.raises(SkillError, match="not JSON"):
        given_arguments("@a `{x}`")
    with pytest.raises(SkillError, match="twice"):
        given_arguments("@a `{}` and @a `{}`")
