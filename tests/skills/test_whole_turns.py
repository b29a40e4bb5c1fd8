"""Each shipped skill as a whole turn: real tools over real services, and a brain that says what it must."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from muleteer.harness.events import Confirm, Event, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import anybody
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, Write
from tests.skills.conftest import House

SKILLS = ("check-schedule", "daily-brief", "device-health", "fetch-file", "home-control", "search-info")

GERMAN = {"der", "den", "das", "die", "ist", "habe", "liegt"}


async def finished(house: House, message: str, *script: Scripted) -> TurnFinished:
    return last_of(await house.turn(message, *script))


def last_of(events: list[Event]) -> TurnFinished:
    last = events[-1]
    assert isinstance(last, TurnFinished), last
    return last


def calls(turn: TurnFinished) -> list[tuple[str, str]]:
    return [(call.tool, call.status) for call in turn.calls]


def plan(handle: str) -> Choose:
    return Choose({handle: 1.0})


async def test_search_info_is_answered_from_the_notes_first(house: House) -> None:
    await house.notebook.add("the boiler code is 7731-K")
    turn = await finished(
        house, "what is the boiler code", plan("search-info"), Fill({"query": "boiler code"})
    )
    assert calls(turn) == [("check_notebook", "ok")]
    assert "7731-K" in turn.answer
    assert [level.name for level in turn.levels] == ["planner", "agent:check_notebook"]


async def test_search_info_goes_on_to_the_files(house: House) -> None:
    turn = await finished(
        house,
        "when does the chimney sweep come",
        plan("search-info"),
        Fill({"query": "chimney sweep"}),
        Fill({"words": "chimney sweep"}),
    )
    assert calls(turn) == [("check_notebook", "empty"), ("find_file", "ok")]
    assert "14 March at 9:30" in turn.answer
    assert "There is no note" not in turn.answer


async def test_search_info_ends_with_what_was_said_before(house: House) -> None:
    house.memory.add("is the roof done", "The roofer comes on Monday.", "s")
    turn = await finished(
        house,
        "what was said about the roof",
        plan("search-info"),
        Fill({"query": "roof"}),
        Fill({"words": "roof"}),
        Fill({"query": "roof", "when": ""}),
    )
    assert calls(turn)[2] == ("grep_memory", "ok")
    assert "The roofer comes on Monday." in turn.answer


async def test_search_info_says_where_it_could_not_look_and_where_nothing_is(
    house: House, tmp_path: Path
) -> None:
    await house.notebook.close()
    (tmp_path / "notebook.db").write_bytes(b"garbage" * 1000)
    turn = await finished(
        house,
        "where is the passport",
        plan("search-info"),
        Fill({"query": "passport"}),
        Fill({"words": "passport"}),
        Fill({"query": "passport", "when": ""}),
    )
    assert [status for _, status in calls(turn)] == ["unavailable", "empty", "empty"]
    assert "I could not open the notebook" in turn.answer
    assert "There is no file" in turn.answer
    assert "I remember nothing" in turn.answer


async def test_two_likely_places_are_searched_one_after_the_other_without_a_follower(house: House) -> None:
    turn = await finished(
        house,
        "chimney sweep",
        Choose({"check-schedule": 0.5, "search-info": 0.45}),
        Fill({"day": "", "query": "chimney sweep"}),
        Fill({"query": "chimney sweep"}),
        Fill({"words": "chimney sweep"}),
    )
    assert turn.handles == ("check-schedule", "search-info")
    assert [status for _, status in calls(turn)] == ["empty", "empty", "ok"]
    assert "14 March at 9:30" in turn.answer
    assert "follower" not in [level.name for level in turn.levels]


async def test_fetch_file_answers_from_the_text_and_copies_its_values(house: House) -> None:
    message = "what does the chimney letter say"
    answer = Write(("The chimney sweep comes on 14 March at 9:30.",))
    turn = await finished(house, message, plan("fetch-file"), Fill({"name": "chimney letter"}), answer)
    assert calls(turn) == [("read_file", "ok")]
    assert turn.answer == "papers/chimney letter.txt: The chimney sweep comes on 14 March at 9:30."
    assert [level.name for level in turn.levels] == ["planner", "agent:read_file", "answer"]


async def test_fetch_file_says_that_there_is_none(house: House) -> None:
    turn = await finished(house, "open the will", plan("fetch-file"), Fill({"name": "testament"}))
    assert calls(turn) == [("read_file", "empty")]
    assert turn.answer == 'There is no file "testament".'


async def test_check_schedule_looks_into_the_calendar(house: House) -> None:
    turn = await finished(
        house, "what is on today", plan("check-schedule"), Fill({"day": "today", "query": ""})
    )
    assert calls(turn) == [("check_calendar", "ok")]
    assert "16:00 to 16:30 Dentist" in turn.answer


async def test_home_control_switches_because_of_what_a_sensor_says(house: House) -> None:
    turn = await finished(
        house,
        "if the greenhouse has under 25 degrees, turn on the lamp",
        plan("home-control"),
        Fill({"tool": "sensor", "instruction": "greenhouse"}),
        Fill({"name": "greenhouse"}),
        Fill({"tool": "switch", "instruction": "turn on the lamp"}),
        Fill({"name": "lamp", "state": "on"}),
    )
    assert calls(turn) == [("sensor", "ok"), ("switch", "ok")]
    assert turn.answer == "The greenhouse is 21.5 °C. The lamp is on now."
    assert "L1" in house.board.heard


async def test_home_control_leaves_the_switch_alone_when_the_condition_is_not_met(house: House) -> None:
    turn = await finished(
        house,
        "if the greenhouse has under 5 degrees, turn on the lamp",
        plan("home-control"),
        Fill({"tool": "sensor", "instruction": "greenhouse"}),
        Fill({"name": "greenhouse"}),
        Fill({"tool": "switch", "instruction": "turn on the lamp"}),
        Fill({"name": "lamp", "state": "on"}),
    )
    assert calls(turn) == [("sensor", "ok")]
    assert "The greenhouse is 21.5 °C." in turn.answer
    assert "Nothing was done: it is not so (if the greenhouse has under 5 degrees)." in turn.answer
    assert "L1" not in house.board.heard


async def test_home_control_waits_for_a_yes_where_one_is_needed(house: House) -> None:
    harness = Harness(
        ScriptedBrain(
            plan("home-control"),
            Fill({"tool": "sensor", "instruction": "greenhouse"}),
            Fill({"name": "greenhouse"}),
            Fill({"tool": "switch", "instruction": "lamp on"}),
            Fill({"name": "lamp", "state": "on"}),
        ),
        house.catalogue,
        Budgets(),
        ("physical",),
    )
    asked = [event async for event in harness.run("if the greenhouse is over 20 degrees, turn on the lamp")][
        -1
    ]
    assert isinstance(asked, Confirm)
    assert asked.question == 'Shall I call switch with name "lamp" and state "on"? It acts on a real device.'
    assert house.board.heard == ["T?"]
    turn = last_of([event async for event in harness.confirmed(harness.take(asked.turn, anybody), True)])
    assert turn.answer == "The greenhouse is 21.5 °C.\nThe lamp is on now."
    assert "L1" in house.board.heard


async def test_daily_brief_holds_each_tools_own_sentence_and_costs_one_level(house: House) -> None:
    turn = await finished(house, "how does my day look", plan("daily-brief"))
    assert [level.name for level in turn.levels] == ["planner"]
    assert {status for _, status in calls(turn)} <= {"ok", "empty"}
    assert str(date.today().year) in turn.answer
    assert "16:00 to 16:30 Dentist" in turn.answer
    assert "21.5 °C" in turn.answer
    assert "No timer or alarm is set." in turn.answer


async def test_device_health_looks_at_everything_and_costs_one_level(house: House) -> None:
    turn = await finished(house, "are you well", plan("device-health"))
    assert [level.name for level in turn.levels] == ["planner"]
    assert calls(turn) == [("device_info", "ok")]
    assert "Memory:" in turn.answer


@pytest.mark.parametrize("name", ["daily-brief", "device-health"])
async def test_what_has_a_schedule_runs_in_the_background_without_a_model(house: House, name: str) -> None:
    skill = house.catalogue.skill(name)
    assert skill
    assert skill.schedule
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets())
    turn = last_of([event async for event in harness.run(skill=name, background=True)])
    assert turn.levels == ()
    assert turn.answer


def test_no_prompt_is_kept_ready_for_a_level_that_code_does_without(house: House) -> None:
    prompts = Harness(ScriptedBrain(), house.catalogue, Budgets()).prompts()
    assert [name for name in prompts if name.startswith("follower:")] == ["follower:home-control"]


def test_every_shipped_skill_has_german_examples(house: House) -> None:
    assert tuple(sorted(house.catalogue.skills)) == SKILLS
    for skill in house.catalogue.skills.values():
        assert len(skill.examples) >= 20
        assert any(set(example.lower().split()) & GERMAN for example in skill.examples), skill.name
