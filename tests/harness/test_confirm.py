"""Calls that need a yes: nothing runs before it, exactly that call runs after it, and it is given once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from muleteer.errors import NotOpenError
from muleteer.harness.confirmation import OPEN_LIMIT, OPEN_SECONDS, Confirmations, Pending, question
from muleteer.harness.events import Confirm, Event, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.tool import Result
from tests.harness.conftest import House, anybody
from tests.harness.scripted import Choose, Fill, ScriptedBrain

KEEP = Choose({"keep": 0.9})


def harness_of(house: House, *script: Choose | Fill, confirm: tuple[str, ...] = ("write",)) -> Harness:
    return Harness(ScriptedBrain(*script), house.catalogue, Budgets(), confirm)


async def last_of(events: AsyncIterator[Event]) -> Event:
    return [event async for event in events][-1]


async def asked(harness: Harness, message: str = "keep this: tea") -> Confirm:
    last = await last_of(harness.run(message))
    assert isinstance(last, Confirm), last
    return last


async def test_a_call_that_needs_a_yes_ends_the_turn_before_it_runs(house: House) -> None:
    question = await asked(harness_of(house, KEEP, Fill({"note": "tea"})))
    assert (question.tool, question.effect, question.arguments) == ("keep", "write", {"note": "tea"})
    assert question.question == 'Shall I call keep with note "tea"? It changes what is stored.'
    assert [level.name for level in question.levels] == ["planner", "agent:keep"]
    assert (question.calls, house.ran) == ((), [])


async def test_a_yes_runs_exactly_that_call_and_ends_as_a_turn(house: House) -> None:
    harness = harness_of(house, KEEP, Fill({"note": "tea"}))
    turn = (await asked(harness)).turn
    events = [event async for event in harness.confirmed(harness.take(turn, anybody), True)]
    assert [event.name for event in events] == [
        "turn.started",
        "call.started",
        "call.finished",
        "text",
        "turn.finished",
    ]
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.turn, last.answer, last.handles) == (turn, 'Noted: "tea".', ("keep",))
    assert [(call.tool, call.status) for call in last.calls] == [("keep", "ok")]
    assert house.ran == [("keep", "tea")]


async def test_a_no_runs_nothing_and_says_so(house: House) -> None:
    harness = harness_of(house, KEEP, Fill({"note": "tea"}))
    turn = (await asked(harness)).turn
    last = await last_of(harness.confirmed(harness.take(turn, anybody), False))
    assert isinstance(last, TurnFinished)
    assert last.answer == "As you wish: keep was not called."
    assert (last.calls, house.ran) == ((), [])


async def test_what_was_found_before_the_question_is_said_after_it(house: House) -> None:
    harness = harness_of(
        house,
        Choose({"clock": 0.45, "keep": 0.45}),
        Fill({"tool": "clock", "instruction": "the time"}),
        Fill({"place": ""}),
        Fill({"tool": "keep", "instruction": "note tea"}),
        Fill({"note": "tea"}),
        Fill({"tool": "finish"}),
    )
    turn = (await asked(harness, "please")).turn
    last = await last_of(harness.confirmed(harness.take(turn, anybody), True))
    assert isinstance(last, TurnFinished)
    assert last.answer == 'It is noon.\nNoted: "tea".'
    assert [call.tool for call in last.calls] == ["clock", "keep"]


async def test_a_confirmed_call_that_fails_is_no_success(house: House) -> None:
    house.results["keep"] = [Result.unavailable("I could not write it down.")]
    harness = harness_of(house, KEEP, Fill({"note": "tea"}))
    turn = (await asked(harness)).turn
    last = await last_of(harness.confirmed(harness.take(turn, anybody), True))
    assert isinstance(last, TurnFinished)
    assert last.answer == "I could not write it down."


async def test_a_tool_that_was_changed_meanwhile_is_not_called(house: House) -> None:
    harness = harness_of(house, KEEP, Fill({"note": "tea"}))
    turn = (await asked(harness)).turn
    house.catalogue.disable("keep", "The user has switched it off.")
    last = await last_of(harness.confirmed(harness.take(turn, anybody), True))
    assert isinstance(last, TurnFinished)
    assert "changed" in last.answer
    assert house.ran == []


async def test_a_client_can_add_a_question_and_take_none_away(house: House) -> None:
    harness = harness_of(house, KEEP, Fill({"note": "tea"}), confirm=())
    assert isinstance(await last_of(harness.run("keep this: tea", confirm=("write",))), Confirm)
    harness = harness_of(house, KEEP, Fill({"note": "tea"}))
    assert isinstance(await last_of(harness.run("keep this: tea", confirm=("physical",))), Confirm)


async def test_reading_needs_no_yes(house: House) -> None:
    harness = harness_of(house, Choose({"clock": 1.0}), Fill({"place": ""}), confirm=("write", "physical"))
    assert isinstance(await last_of(harness.run("what time is it")), TurnFinished)


def pending(house: House, turn: str) -> Pending:
    return Pending(turn, "m", house.catalogue.toolbox.tools["keep"], {"note": "tea"}, ("keep",), (), ())


def test_a_question_is_answered_once(house: House) -> None:
    open_ones = Confirmations()
    open_ones.add(pending(house, "a"))
    assert open_ones.take("a", anybody).turn == "a"
    with pytest.raises(NotOpenError, match="answered"):
        open_ones.take("a", anybody)


def test_a_question_is_answered_by_whom_it_was_put_to_alone(house: House) -> None:
    open_ones = Confirmations()
    open_ones.add(replace(pending(house, "a"), asker="ada"))
    with pytest.raises(NotOpenError, match="put to somebody else"):
        open_ones.take("a", lambda asker: asker == "bob")
    assert open_ones.take("a", lambda asker: asker == "ada").turn == "a", "bob has not closed it"


def test_a_question_expires(house: House) -> None:
    now = 0.0
    open_ones = Confirmations(lambda: now)
    open_ones.add(pending(house, "a"))
    now = OPEN_SECONDS
    with pytest.raises(NotOpenError, match="older than 5 minutes"):
        open_ones.take("a", anybody)


def test_open_questions_are_bounded_the_oldest_goes(house: House) -> None:
    open_ones = Confirmations()
    for number in range(OPEN_LIMIT + 1):
        open_ones.add(pending(house, str(number)))
    with pytest.raises(NotOpenError):
        open_ones.take("0", anybody)
    assert open_ones.take("1", anybody).turn == "1"


def test_the_question_shows_values_as_they_are_and_cuts_long_ones_visibly(house: House) -> None:
    tool = house.catalogue.toolbox.tools["keep"]
    assert 'note "a\\"? Shall' in question(tool, {"note": 'a"? Shall'}), "a value cannot leave its quotes"
    assert "\u202e" not in question(tool, {"note": "\u202eon"})
    assert "characters cut]" in question(tool, {"note": "x" * 1000})
    assert question(tool, {}).startswith("Shall I call keep with no arguments?")
