"""Whole turns on a scripted brain: every path, every limit, and what the user is told."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from muleteer.engine.protocol import Conversation, Message, Use
from muleteer.errors import EngineDiedError
from muleteer.harness import turn
from muleteer.harness.events import (
    CallFinished,
    CallStarted,
    CallUse,
    Event,
    LevelFinished,
    Planned,
    TextDelta,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from muleteer.harness.phrases import ENGLISH
from muleteer.harness.turn import Harness, stream_of
from muleteer.settings.sections import Budgets
from muleteer.tool import Notes, Result
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, StuckBrain, Write

CLOCK = Choose({"clock": 0.9, "reply": 0.1})
REPLY = Choose({"reply": 0.9, "clock": 0.1})
LOOK = Choose({"look-up": 0.8, "reply": 0.2})


async def events_of(harness: Harness, message: str, history: Sequence[Message] = ()) -> list[Event]:
    return [event async for event in harness.run(message, history)]


async def finished(
    house: House, message: str, *script: Scripted, budgets: Budgets | None = None
) -> TurnFinished:
    brain = ScriptedBrain(*script)
    last = (await events_of(Harness(brain, house.catalogue, budgets or Budgets()), message))[-1]
    assert isinstance(last, TurnFinished), last
    assert not brain.script, "the turn asked less than was scripted"
    return last


async def test_one_tool_skips_the_follower(house: House) -> None:
    turn = await finished(house, "time in Rome?", CLOCK, Fill({"place": "Rome"}))
    assert turn.answer == "It is noon."
    assert turn.handles == ("clock",)
    assert [level.name for level in turn.levels] == ["planner", "agent:clock"]
    assert [(call.tool, call.status) for call in turn.calls] == [("clock", "ok")]
    assert house.ran == [("clock", "Rome")]


async def test_events_stream_in_the_order_things_happen(house: House) -> None:
    harness = Harness(ScriptedBrain(CLOCK, Fill({"place": "Rome"})), house.catalogue, Budgets())
    events = await events_of(harness, "time in Rome?")
    assert [type(event) for event in events] == [
        TurnStarted,
        LevelFinished,
        Planned,
        LevelFinished,
        CallStarted,
        CallFinished,
        TextDelta,
        TurnFinished,
    ]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "It is noon."


async def test_a_tool_without_parameters_costs_one_level(house: House) -> None:
    turn = await finished(house, "are you there", Choose({"ping": 1.0}))
    assert turn.answer == "I am here."
    assert [level.name for level in turn.levels] == ["planner"]


async def test_a_reply_is_streamed_and_scrubbed(house: House) -> None:
    brain = ScriptedBrain(REPLY, Write(("Hello", " there, ", "use @cl", "ock.")))
    events = await events_of(Harness(brain, house.catalogue, Budgets()), "hi")
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(texts) == "Hello there, use clock."
    assert len(texts) > 1
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.handles, last.calls) == ((), ())


async def test_a_skill_is_followed_step_by_step_in_one_growing_prompt(house: House) -> None:
    house.results["find_note"] = [Result.empty("There is no note on keys.")]
    brain = ScriptedBrain(
        LOOK,
        Fill({"tool": "find_note", "instruction": "where the keys are"}),
        Fill({"query": "keys"}),
        Fill({"tool": "clock", "instruction": "the time here"}),
        Fill({"place": ""}),
    )
    events = await events_of(Harness(brain, house.catalogue, Budgets()), "where are my keys")
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert last.answer == "There is no note on keys. It is noon."
    assert [level.name for level in last.levels] == [
        "planner",
        "follower",
        "agent:find_note",
        "follower",
        "agent:clock",
    ], "after the last numbered step there is nothing left to ask the model"
    follower = [asked for asked in brain.asked if [tool.name for tool in asked.tools] == ["call_tool"]]
    assert follower[1].messages[: len(follower[0].messages)] == follower[0].messages
    assert follower[1].messages[-1].content == "empty: There is no note on keys."


def schema_text(schema: object) -> str:
    return json.dumps(schema)


def offered(schema: Any) -> object:
    """The tools that a step may name."""
    tool = schema["properties"]["tool"]
    return tool.get("enum") or tool["const"]


async def test_a_last_step_that_found_nothing_may_be_tried_again(house: House) -> None:
    house.results["clock"] = [Result.empty("There is no clock."), Result.ok("It is noon.")]
    brain = ScriptedBrain(
        LOOK,
        Fill({"tool": "find_note", "instruction": "keys"}),
        Fill({"query": "keys"}),
        Fill({"tool": "clock", "instruction": "the time here"}),
        Fill({"place": ""}),
        Fill({"tool": "clock", "instruction": "the time in Rome"}),
        Fill({"place": "Rome"}),
    )
    events = await events_of(Harness(brain, house.catalogue, Budgets()), "where are my keys")
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert [call.status for call in last.calls][1:] == ["empty", "ok"]


async def test_what_may_not_happen_cannot_be_written(house: House) -> None:
    brain = ScriptedBrain(
        LOOK,
        Fill({"tool": "find_note", "instruction": "keys"}),
        Fill({"query": "keys"}),
        Fill({"tool": "find_note", "instruction": "keys"}),
        Fill({"tool": "finish", "instruction": "done"}),
    )
    await events_of(Harness(brain, house.catalogue, Budgets()), "where are my keys")
    first, second, third = [schema for schema in brain.schemas if "tool" in schema_text(schema)]
    assert offered(first) == ["find_note"]
    assert [offered(part) for part in second["anyOf"]] == [["find_note", "clock"], "finish"]  # type: ignore[attr-defined]
    assert [offered(part) for part in third["anyOf"]] == [["clock"], "finish"]  # type: ignore[attr-defined]
    assert "instruction" not in schema_text(third["anyOf"][1])  # type: ignore[index]  # the tool has spoken
    assert len(house.ran) == 1


async def test_each_level_sees_the_least_it_needs(house: House) -> None:
    brain = ScriptedBrain(
        LOOK,
        Fill({"tool": "find_note", "instruction": "the keys"}),
        Fill({"query": "keys"}),
        Fill({"tool": "finish", "instruction": "done"}),
    )
    await events_of(Harness(brain, house.catalogue, Budgets()), "where are my keys, I ask in secret")
    planner, follower, agent, _ = brain.asked
    planner_text = str(planner)
    assert "Ask @find-note" not in planner_text
    assert planner.tools == ()
    assert "1. Ask @find-note" in follower.messages[0].content
    assert "words to look for" not in str(follower)
    assert [tool.name for tool in agent.tools] == ["find_note"]
    assert "secret" not in str(agent)
    assert "clock" not in str(agent)


async def test_several_notes_are_put_into_words(house: House) -> None:
    house.results["find_note"] = [
        Result.ok('Two notes: "keys: hook 4"; "tea".', Notes(("keys: hook 4", "tea")))
    ]
    turn = await finished(
        house,
        "where are my keys",
        LOOK,
        Fill({"tool": "find_note", "instruction": "keys"}),
        Fill({"query": "keys"}),
        Fill({"tool": "finish", "instruction": "they hang somewhere"}),
        Write(("On hook 4.",)),
    )
    assert turn.answer == "On hook 4."
    assert turn.levels[-1].name == "answer"


async def test_the_exact_same_call_is_refused_and_the_fourth_request_ends_the_level(house: House) -> None:
    ask = [Fill({"tool": "clock", "instruction": word}) for word in ("time", "hour", "hour", "again")]
    rome = Fill({"place": "Rome"})
    turn = await finished(house, "keys", LOOK, ask[0], rome, ask[1], rome, ask[2], ask[3])
    assert house.ran == [("clock", "Rome")]
    assert turn.answer == "It is noon."


async def test_an_error_is_given_back_and_corrected_within_the_limit(house: House) -> None:
    house.results["clock"] = [Result.error("no such place"), Result.ok("It is one.")]
    brain = ScriptedBrain(CLOCK, Fill({"place": "Rme"}), Fill({"place": "Rome"}))
    events = await events_of(Harness(brain, house.catalogue, Budgets()), "time in Rme")
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert last.answer == "It is one."
    assert [call.status for call in last.calls] == ["error", "ok"]
    assert "no such place" in brain.asked[-1].messages[-1].content


async def test_errors_without_end_are_bounded_and_told(house: House) -> None:
    house.results["clock"] = [Result.error(f"wrong {i}") for i in range(9)]
    turn = await finished(house, "time", CLOCK, *(Fill({"place": str(i)}) for i in range(3)))
    assert len(house.ran) == 3
    assert turn.answer == "wrong 2"


async def test_a_repeated_wrong_call_is_not_made_twice(house: House) -> None:
    house.results["clock"] = [Result.error("wrong")]
    turn = await finished(house, "time", CLOCK, Fill({"place": "x"}), Fill({"place": "x"}))
    assert len(house.ran) == 1
    assert turn.answer == "wrong"


async def test_unwritable_arguments_run_nothing_and_the_turn_plans_anew(house: House) -> None:
    too_long = Fill({"place": "x"}, finish="length")
    brain = ScriptedBrain(CLOCK, too_long, REPLY, Write(("I do not know.",)))
    events = await events_of(Harness(brain, house.catalogue, Budgets()), "time")
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert house.ran == []
    assert last.answer == "I do not know."
    assert "@clock" not in brain.options[1]
    assert "@clock" in brain.asked[2].messages[-1].content


async def test_three_failed_plans_end_in_the_floor(house: House) -> None:
    fails = [Fill({"place": "x"}, finish="length"), Fill({"note": "x"}, finish="length")]
    empty = Fill({"tool": "finish", "instruction": " "})
    turn = await finished(house, "hm", CLOCK, fails[0], Choose({"keep": 1.0}), fails[1], LOOK, empty)
    assert turn.answer == ENGLISH.floor
    assert turn.calls == ()


async def test_an_empty_reply_is_regenerated_twice(house: House) -> None:
    assert (await finished(house, "hi", REPLY, Write(()), Write(("  ",)), Write(("Hi.",)))).answer == "Hi."
    assert (await finished(house, "hi", REPLY, Write(()), Write(()), Write(()))).answer == ENGLISH.floor


async def test_the_token_budget_stops_the_turn_and_what_was_found_is_said(house: House) -> None:
    turn = await finished(
        house,
        "keys",
        LOOK,
        Fill({"tool": "clock", "instruction": "time"}),
        Fill({"place": "Rome"}),
        budgets=Budgets(turn=21),
    )
    assert turn.answer == "It is noon."


async def test_a_spent_budget_without_a_result_is_a_failure_that_says_so(house: House) -> None:
    brain = ScriptedBrain(LOOK, Fill({"tool": "nothing", "instruction": "x"}))
    events = await events_of(Harness(brain, house.catalogue, Budgets(turn=16)), "keys")
    last = events[-1]
    assert isinstance(last, TurnFailed)
    assert (last.code, last.status) == ("over_budget", 503)
    assert "16 tokens" in last.message
    assert len(last.levels) == 2, "what is kept for an answer is not spent on tools"


async def test_the_clock_stops_a_turn(house: House) -> None:
    harness = Harness(StuckBrain(), house.catalogue, Budgets(seconds=0.1))
    last = (await events_of(harness, "hi"))[-1]
    assert isinstance(last, TurnFailed)
    assert last.code == "over_budget"
    assert "0.1 seconds" in last.message


class StuckMenu(ScriptedBrain):
    """Never gets to the end of the menu."""

    async def warm(self, prompt: Conversation) -> Use:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


async def test_reading_the_menu_after_a_start_is_not_the_turns_time_and_is_bounded_itself(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "MENU_SECONDS", 0.3)
    harness = Harness(StuckMenu(), house.catalogue, Budgets(seconds=0.1))
    last = (await events_of(harness, "time in Rome?"))[-1]
    assert isinstance(last, TurnFailed)
    assert "0.3 seconds" in last.message


async def test_a_message_over_its_budget_is_refused_with_both_counts(house: House) -> None:
    brain = ScriptedBrain()
    last = (await events_of(Harness(brain, house.catalogue, Budgets(message=16)), "word " * 17))[-1]
    assert isinstance(last, TurnFailed)
    assert (last.code, last.status) == ("too_long", 413)
    assert "17 tokens" in last.message
    assert "16" in last.message
    assert brain.asked == []


@pytest.mark.parametrize("message", ["", " \n\t "])
async def test_an_empty_message_is_refused(house: House, message: str) -> None:
    last = (await events_of(Harness(ScriptedBrain(), house.catalogue, Budgets()), message))[-1]
    assert isinstance(last, TurnFailed)
    assert (last.code, last.status) == ("bad_request", 400)


async def test_a_dead_engine_fails_the_turn_and_keeps_the_ledger(house: House) -> None:
    brain = ScriptedBrain(CLOCK, EngineDiedError("The engine was killed by signal 9."))
    last = (await events_of(Harness(brain, house.catalogue, Budgets()), "time"))[-1]
    assert isinstance(last, TurnFailed)
    assert (last.code, last.status) == ("engine_died", 503)
    assert [level.name for level in last.levels] == ["planner"]


@pytest.mark.parametrize("kind", [ZeroDivisionError, SystemExit, asyncio.CancelledError, GeneratorExit])
async def test_a_fault_of_our_own_is_one_sentence_without_detail(
    house: House, kind: type[BaseException]
) -> None:
    brain = ScriptedBrain(kind("secret detail"))
    last = (await events_of(Harness(brain, house.catalogue, Budgets()), "time"))[-1]
    assert isinstance(last, TurnFailed)
    assert last.code == "internal"
    assert "secret" not in last.message


async def test_a_turn_has_one_lane_for_all_its_levels(house: House) -> None:
    brain = ScriptedBrain(CLOCK, Fill({"place": "Rome"}))
    last = (await events_of(Harness(brain, house.catalogue, Budgets()), "time in Rome?"))[-1]
    assert isinstance(last, TurnFinished)
    assert brain.lanes == [False]


async def test_closing_the_stream_stops_the_turn(house: House) -> None:
    brain = StuckBrain()
    stream = Harness(brain, house.catalogue, Budgets()).run("hi")
    assert isinstance(await anext(stream), TurnStarted)
    await brain.began.wait()
    await stream.aclose()
    assert brain.freed.is_set()


async def test_the_ledger_is_the_sum_of_what_was_asked(house: House) -> None:
    turn = await finished(house, "time in Rome?", CLOCK, Fill({"place": "Rome"}))
    assert all(level.prompt == level.reused + level.decoded for level in turn.levels)
    assert turn.calls == (CallUse("clock", "ok", turn.calls[0].ms),)


async def test_a_turn_that_fails_before_its_outcome_raises_instead_of_waiting_for_ever() -> None:
    async def work(emit: Callable[[Event], None]) -> None:
        emit(TurnStarted("t1"))
        raise LookupError("a fault of ours")

    told: list[Event] = []

    async def listen() -> None:
        async for event in stream_of(work):
            told.append(event)

    with pytest.raises(LookupError, match="a fault of ours"):
        await asyncio.wait_for(listen(), 10)
    assert told == [TurnStarted("t1")]
