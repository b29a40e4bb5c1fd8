"""The flat loop: calls of every kind through the dispatcher, its limits, and what the user is told."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Message
from muleteer.harness import flat
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.dispatcher import CALLS_PER_TOOL
from muleteer.harness.events import Event
from muleteer.harness.flat import REGENERATIONS, ROUND_TRIPS
from muleteer.harness.free.attempt import FreeAttempt
from muleteer.harness.free.listening import Listener
from muleteer.harness.free.speech import Speech
from muleteer.harness.ledger import WIND_DOWN
from muleteer.harness.phrases import ENGLISH
from muleteer.harness.prompts import render
from muleteer.harness.record import Record
from muleteer.harness.signals import BudgetExceeded
from muleteer.settings.sections import Budgets
from muleteer.tool import Result, tool
from muleteer.toolbox import Tool, Toolbox
from tests.harness.conftest import House
from tests.harness.dialects.material import WAYS
from tests.harness.free.scripted import FreeBrain, Line, Say, call
from tests.harness.scripted import ScriptedBrain

NOTHING = "I cannot do that."


class Turn:
    """A flat turn over the house's tools."""

    def __init__(self, house: House, *script: Line, budgets: Budgets | None = None) -> None:
        self.brain, self.events = FreeBrain(*script), list[Event]()
        self.record = Record("turn", budgets or Budgets(), self.events.append, ENGLISH)
        arranged = Arrangement(ScriptedBrain(), house.catalogue, budgets or Budgets())
        self.tools: list[Tool] = list(house.catalogue.toolbox.tools.values())
        listener = Listener(self.brain, self.record.ledger)
        self.attempt = FreeAttempt(arranged, listener, self.record, lambda tool, arguments: None)

    async def said(self, message: str, history: tuple[Message, ...] = ()) -> str:
        speech = Speech(self.record.say, ("clock", "look-up"), ENGLISH.not_done)
        await self.attempt.flat(self.tools, message, history, speech)
        assert not self.brain.script, "something was not asked"
        return self.record.said

    def told(self, request: int = -1) -> str:
        return self.brain.asked[request].messages[-1].content


async def test_calls_results_and_an_answer_from_the_results(house: House) -> None:
    turn = Turn(house, call("clock", place="Rome"), "It is noon in Rome.")
    assert await turn.said("time in Rome?") == "It is noon."
    first, second = turn.brain.asked
    assert {spec.name for spec in first.tools} == {"clock", "find_note", "keep", "ping"}, (
        "none that is hidden"
    )
    assert second.messages[: len(first.messages)] == first.messages, "the conversation only grows"
    asked, result = second.messages[len(first.messages) :]
    assert asked.calls == (("clock", '{"place": "Rome"}'),)
    assert (result.role, result.content) == ("tool", "ok: It is noon.")


async def test_a_reply_without_calls_is_the_answer(house: House) -> None:
    assert await Turn(house, "You are welcome!").said("thanks") == "You are welcome!"
    assert house.ran == []


@pytest.mark.parametrize("way", WAYS)
async def test_a3_a4_a7_a8_a11_any_dialect_runs_once_and_is_never_shown(house: House, way: str) -> None:
    given = WAYS[way].replace("get_weather", "clock").replace('"city"', '"place"').replace("city=", "place=")
    given = (
        given.replace(', "days": 3', "")
        .replace(", days=3", "")
        .replace(", 3)", ")")
        .replace(', \\"days\\": 3', "")
    )
    given = given.replace('\\"city\\"', '\\"place\\"')
    turn = Turn(house, given, "It is noon.")
    assert await turn.said("time?") == "It is noon."
    assert house.ran == [("clock", 'St. John\'s "old" town: {x}, [y]')]


async def test_a1_a_claim_without_a_call_is_put_right_once_and_never_shipped(house: House) -> None:
    turn = Turn(house, "I've turned off the kitchen light.", call("keep", note="light off"), "Done.")
    assert await turn.said("note: light off") == 'Noted: "light off".'
    assert render("flat_claim") in turn.told(1)
    stubborn = Turn(house, *["I've turned off the kitchen light."] * (1 + REGENERATIONS))
    assert await stubborn.said("turn off the kitchen light") == ENGLISH.not_done
    assert stubborn.record.calls == []


async def test_a2_without_tools_a_claim_is_not_shipped(house: House) -> None:
    turn = Turn(house, *["All covers have been opened."] * (1 + REGENERATIONS))
    turn.tools = []
    assert await turn.said("open all blinds") == ENGLISH.not_done


@pytest.mark.parametrize(
    "broken",
    [
        '{"name": "keep", "arguments": {"note": "a" "b"}}',
        '<tool_call>{"name": "keep", "arguments": "{"}</tool_call>',
    ],
)
async def test_b2_b5_b6_what_cannot_be_read_does_not_run_and_is_put_right(house: House, broken: str) -> None:
    turn = Turn(house, broken, call("keep", note="tea"), "ok")
    assert await turn.said("note: tea") == 'Noted: "tea".'
    assert house.ran == [("keep", "tea")]
    assert "cannot be read" in turn.told(1)
    assert not any(message.calls for message in turn.brain.asked[1].messages), "servers refuse such"
    hopeless = Turn(house, *[broken] * (1 + REGENERATIONS))
    assert "keep" not in await hopeless.said("note: tea")
    assert house.ran == [("keep", "tea")]


async def test_b2_a_call_that_ends_within_a_value_may_look_up_and_not_act(house: House) -> None:
    turn = Turn(house, '{"name": "keep", "arguments": {"note": "the spare k', "I could not.")
    await turn.said("note: the spare key is under the pot")
    assert house.ran == []
    assert "ended within a value" in turn.told()
    turn = Turn(house, '{"name": "clock", "arguments": {"place": "Rome', "noon")
    assert await turn.said("time in Rome?") == "It is noon."


async def test_b4_patterns_and_paths_reach_the_tool_as_they_were_written(house: House) -> None:
    written = r'{"name": "find_note", "arguments": {"query": "\d+ C:\Users\x"}}'
    turn = Turn(house, f"<tool_call>{written}</tool_call>", "x")
    await turn.said("find it")
    assert house.ran == [("find_note", r"\d+ C:\Users\x")]


async def test_b9_a_tool_that_asks_again_and_again_is_bounded_and_answered_honestly(house: House) -> None:
    again = "Which clock? Say its full name."
    house.results["clock"] = [Result.error(again) for _ in range(9)]
    turn = Turn(house, *(call("clock", place=f"clock {i}") for i in range(CALLS_PER_TOOL + 1)))
    assert await turn.said("time?") == again
    assert len(house.ran) == CALLS_PER_TOOL


async def test_h1_repeats_are_refused_and_end_the_loop(house: House) -> None:
    turn = Turn(house, *[call("keep", note="tea")] * 2)
    assert await turn.said("note: tea") == 'Noted: "tea".'
    assert house.ran == [("keep", "tea")]


async def test_h3_c7_an_unknown_tool_is_answered_with_the_real_ones(house: House) -> None:
    turn = Turn(house, call("open_sesame", door=1), NOTHING)
    assert await turn.said("open sesame") == NOTHING
    assert "unknown tool 'open_sesame'" in turn.told()
    assert "clock (" in turn.told()
    assert "list_ports" not in turn.told()


async def test_errors_become_results(house: House) -> None:
    turn = Turn(house, call("clock", nonsense=1), call("clock", place="Rome"), "noon")
    assert await turn.said("time in Rome?") == "It is noon."
    assert turn.told(1).startswith("error: ")


async def test_b6_an_empty_reply_is_asked_for_again_and_then_left(house: House) -> None:
    turn = Turn(house, "", "It was nothing.")
    assert await turn.said("hm") == "It was nothing."
    assert render("flat_empty") in turn.told()
    assert await Turn(house, *[""] * (1 + REGENERATIONS)).said("hm") == ""


async def test_five_round_trips_at_most(house: House) -> None:
    names = ("clock", "keep", "clock", "keep", "clock")
    keys = {"clock": "place", "keep": "note"}
    script = [call(name, **{keys[name]: f"{name} {i}"}) for i, name in enumerate(names)]
    turn = Turn(house, *script)
    assert len(script) == ROUND_TRIPS
    await turn.said("go on and on")
    assert len(house.ran) == ROUND_TRIPS


async def test_several_calls_of_one_reply_run_in_their_order(house: House) -> None:
    two = (("clock", {"place": "Rome"}), ("keep", {"note": "noon"}))
    turn = Turn(house, Say("One moment.", two), "ok")
    assert await turn.said("note the time in Rome") == 'It is noon. Noted: "noon".'
    assert [message.role for message in turn.brain.asked[1].messages[-3:]] == ["assistant", "tool", "tool"]


async def test_one_bad_call_of_a_reply_stops_the_others(house: House) -> None:
    turn = Turn(house, Say("", (("keep", {"note": "a"}), ("keep", "{"))), NOTHING)
    assert await turn.said("note a and b") == NOTHING
    assert house.ran == []


async def test_physical_tools_need_an_order_here_too() -> None:
    ran = []

    @tool(effect="physical")
    def lamp(state: str) -> Result:
        """Switch the lamp.

        state: on or off
        """
        ran.append(state)
        return Result.ok(f"The lamp is {state}.")

    house = House()
    house.catalogue.toolbox.tools.update(Toolbox.of([lamp]).tools)
    turn = Turn(house, call("lamp", state="on"), "The lamp is on.")
    assert "Nothing was done" in await turn.said("is the lamp on?")
    assert ran == []


async def test_the_loop_is_told_to_end_and_loses_its_tools(house: House) -> None:
    message = " ".join(["word"] * 100)
    one = Turn(house, "hello")
    await one.said(message)
    cost = one.record.ledger.spent
    budgets = Budgets(turn=int(cost * 1.25), answer_output=16, message=200)
    assert cost > WIND_DOWN * cost * 1.25 - 16
    turn = Turn(house, call("clock", place="Rome"), call("keep", note="x"), budgets=budgets)
    assert await turn.said(message) == 'It is noon. Noted: "x".'
    assert turn.told() == f"ok: It is noon.\n{render('wind_down')}"
    assert turn.record.ledger.withdrawn


async def test_a_budget_that_is_spent_before_anything_was_found_ends_the_turn(house: House) -> None:
    turn = Turn(house)
    turn.record.ledger.narrow(0)
    with pytest.raises(BudgetExceeded):
        await turn.said("hello")


async def test_the_oldest_messages_go_first_and_that_is_said(house: House) -> None:
    history = tuple(Message("assistant" if i % 2 else "user", f"{i} " + "word " * 200) for i in range(20))
    turn = Turn(house, "hello")
    await turn.said("hi", history)
    (prompt,) = turn.brain.asked
    assert await turn.brain.count(prompt) <= Budgets().flat_prompt
    assert prompt.messages[1].content.startswith(render("left_out"))
    assert prompt.messages[-1].content == "hi"
    assert turn.record.dropped == 20 - (len(prompt.messages) - 2)


def test_the_opening_is_constant_but_for_the_talk(house: House) -> None:
    tools = list(house.catalogue.toolbox.tools.values())
    one, other = flat.opening(tools, "a"), flat.opening(tools, "b", (Message("user", "c"),))
    assert one.messages[:1] == other.messages[:1]
    assert one.tools == other.tools
    assert one.constant == 1
