"""After a yes the plan goes on where it was: L2 with its prompt, code with the tools that were to follow."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from muleteer.harness.events import Confirm, Event, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.tool import Result
from tests.harness.conftest import House, anybody
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain
from tests.harness.test_steps import add

LOOK, BRIEF = Choose({"look-up": 1.0}), Choose({"brief": 1.0})


def harness_of(house: House, *script: Scripted) -> Harness:
    return Harness(ScriptedBrain(*script), house.catalogue, Budgets(), ("write", "read"))


async def last_of(events: AsyncIterator[Event]) -> Event:
    return [event async for event in events][-1]


async def answered(harness: Harness, question: Event, yes: bool) -> Event:
    assert isinstance(question, Confirm), question
    return await last_of(harness.confirmed(harness.take(question.turn, anybody), yes))


async def test_the_follower_goes_on_with_the_same_prompt(house: House) -> None:
    house.results["find_note"] = [Result.empty("There is no note on keys.")]
    harness = harness_of(
        house,
        LOOK,
        Fill({"tool": "find_note", "instruction": "keys"}),
        Fill({"query": "keys"}),
        Fill({"tool": "clock", "instruction": "now"}),
        Fill({"place": "Rome"}),
    )
    first = await last_of(harness.run("where are my keys"))
    second = await answered(harness, first, True)
    assert isinstance(second, Confirm), "the next step needs a yes of its own"
    assert house.ran == [("find_note", "keys")]
    done = await answered(harness, second, True)
    assert isinstance(done, TurnFinished)
    assert house.ran == [("find_note", "keys"), ("clock", "Rome")]
    assert done.answer == "There is no note on keys.\nIt is noon."
    brain = harness.brain
    assert isinstance(brain, ScriptedBrain)
    follower = [p for p in brain.asked if [tool.name for tool in p.tools] == ["call_tool"]]
    before, after = (prompt.messages for prompt in follower)
    assert after[: len(before)] == before
    assert after[-1].content == "empty: There is no note on keys."


async def test_after_a_no_nothing_else_is_done(house: House) -> None:
    harness = harness_of(house, LOOK, Fill({"tool": "find_note", "instruction": "x"}), Fill({"query": "x"}))
    done = await answered(harness, await last_of(harness.run("where are my keys")), False)
    assert isinstance(done, TurnFinished)
    assert (done.answer, house.ran) == ("As you wish: find_note was not called.", [])


async def test_code_goes_on_with_the_tools_that_were_to_follow(house: House) -> None:
    add(house, "all", "1. @keep\n2. @clock\n3. @ping", "keep", "clock", "ping")
    harness = Harness(
        ScriptedBrain(BRIEF, Fill({"note": "tea"}), Fill({"place": ""})),
        house.catalogue,
        Budgets(),
        ("write",),
    )
    done = await answered(harness, await last_of(harness.run("please")), True)
    assert isinstance(done, TurnFinished)
    assert done.answer == 'Noted: "tea".\nIt is noon.\nI am here.'


@pytest.mark.parametrize(
    ("result", "ran"),
    [
        (Result.ok("Found."), ["find_note"]),
        (Result.empty("Nothing."), ["find_note", "clock"]),
    ],
)
async def test_a_search_goes_on_only_where_nothing_was_found(
    house: House, result: Result, ran: list[str]
) -> None:
    add(house, "first", "1. @find-note\n2. @clock", "find-note", "clock")
    house.results["find_note"] = [result]
    harness = harness_of(house, BRIEF, Fill({"query": "tea"}), Fill({"place": ""}))
    last = await answered(harness, await last_of(harness.run("please")), True)
    if isinstance(last, Confirm):
        last = await answered(harness, last, True)
    assert isinstance(last, TurnFinished)
    assert [name for name, _ in house.ran] == ran
