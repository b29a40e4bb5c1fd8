"""Guests' conversations: calls of their own tools, answers from results, our own skills, questions."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from muleteer.engine.protocol import ToolSpec
from muleteer.gateway.guests import TurnError
from muleteer.harness.guests.ask import Ask, Called, MisplacedError, Said, Wanted
from muleteer.harness.staged import NONE
from tests.gateway.visiting import CONTEXT, PLACE, WEATHER, user, visit
from tests.harness.scripted import Choose, Fill, Write

CALL = Called("weather", '{"place": "Oslo"}', "c1")
ASKED = Said("assistant", "", (CALL,))
TRAFFIC = ToolSpec("traffic", "Tell the traffic.", PLACE)


def results(text: str, tools: tuple[ToolSpec, ...] = (WEATHER,)) -> Ask:
    """An ask with one call made, which returned `text`."""
    return Ask((*user("Rain in Oslo?"), ASKED, Said("tool", text, answers="c1")), tools)


async def test_a_tool_of_the_guest_is_called_with_arguments_under_its_schema() -> None:
    at = visit(Choose({"weather": 1.0}), Fill({"place": "Oslo"}))
    text, calls, end = await at.reply(Ask(user("Rain in Oslo?"), (WEATHER, TRAFFIC), calls=1))
    assert (text, calls) == ("", (Wanted("weather", {"place": "Oslo"}),))
    assert end.finish == "tool_calls"
    assert [level.name for level in end.levels] == ["choice", "agent"]
    assert (end.usage.completion, end.usage.hidden) == (6, 3)
    assert end.usage.prompt == sum(level.prompt for level in end.levels)
    assert at.brain.asked[0].constant == 0, "a stranger's prompt is never pinned"


async def test_an_answer_is_written_from_what_the_call_returned() -> None:
    at = visit(Choose({NONE: 1.0}), Write(("It rains in Oslo, ", "at 7 degrees.")))
    text, calls, end = await at.reply(results("rain, 7 degrees"))
    assert (text, calls, end.finish) == ("It rains in Oslo, at 7 degrees.", (), "stop")
    assert "rain, 7 degrees" in at.brain.asked[0].messages[-1].content
    assert [message for _, message in at.remembered] == [""], "it is none of the household's memories"


async def test_a_call_of_nothing_in_an_answer_is_not_shown_and_the_result_is_said() -> None:
    at = visit(Choose({NONE: 1.0}), Write(('{"name": "nothing", "arguments": {}}',)))
    assert (await at.reply(results("rain")))[0] == "rain"
    at = visit(Choose({NONE: 1.0}), Write(('{"name": "weather", "arguments": {}}',)), Fill({"place": "Rome"}))
    assert (await at.reply(results("rain")))[1] == (Wanted("weather", {"place": "Rome"}),)


async def test_another_call_can_follow_and_the_same_one_cannot() -> None:
    other = visit(Choose({"weather": 1.0}), Fill({"place": "Rome"}))
    _, calls, _ = await other.reply(results("rain"))
    assert calls == (Wanted("weather", {"place": "Rome"}),)
    same = visit(Choose({"weather": 1.0}), Fill({"place": "Oslo"}), Write(("Rain.",)))
    text, calls, _ = await same.reply(results("rain"))
    assert (text, calls) == ("Rain.", ())
    more = Choose({"weather": 1.0}), Fill({"place": "Oslo", "unit": "celsius"})
    padded = visit(*more, Write(("Rain.",)))
    assert (await padded.reply(results("rain")))[0] == "Rain."
    mended = visit(*more)
    assert (await mended.reply(results("Error: say a unit")))[1]


async def test_a_value_that_nothing_returned_is_not_said() -> None:
    at = visit(Choose({NONE: 1.0}), Write(("It rains. ", "It has 9 degrees.")))
    text, _, _ = await at.reply(results('{"weather": "rain", "degrees": 7.26}'))
    assert text == "It rains. \nweather: rain, degrees: 7.26"
    rounded = visit(Choose({NONE: 1.0}), Write(("It has 7.3 degrees.",)))
    assert (await rounded.reply(results('{"degrees": 7.26}')))[0] == "It has 7.3 degrees."


async def test_a_deed_is_told_only_where_a_function_did_it() -> None:
    claim = Write(("I have turned off the light.",))
    done = visit(Choose({NONE: 1.0}), claim)
    assert (await done.reply(results("done")))[0] == "I have turned off the light."
    failed = visit(Choose({NONE: 1.0}), claim)
    assert (await failed.reply(results("Error: the lamp is not there")))[0] == "Error: the lamp is not there"
    never = visit(Choose({NONE: 1.0}), claim)
    text, _, _ = await never.reply(Ask(user("Light off"), (WEATHER,)))
    assert text == "That was not done: no tool was called for it."


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "weather", "arguments": {"place": "Oslo"}}',
        '{"arguments": {"place": "Oslo"}, "name": "weather"}',
        '```homeassistant\n{"name": "weather", "parameters": {"place": "Oslo"}}\n```',
        '<functioncall {"name": "weather", "arguments": {"place": "Oslo"}}>',
        '[weather(place="Oslo")]',
        '<tool_call>\n{"name": "weather", "arguments": {"place": "Os',
    ],
)
async def test_a_call_that_is_written_as_text_is_made_and_never_shown(written: str) -> None:
    at = visit(Choose({NONE: 1.0}), Write(tuple(written)), Fill({"place": "Oslo"}))
    text, calls, end = await at.reply(Ask(user("Rain in Oslo?"), (WEATHER,), calls=1))
    assert (text, calls) == ("", (Wanted("weather", {"place": "Oslo"}),))
    assert end.finish == "tool_calls"


async def test_without_tools_our_own_skills_answer_and_are_remembered() -> None:
    at = visit(Choose({"clock": 1.0}), Fill({"place": "Oslo"}))
    text, calls, end = await at.reply(Ask(user("What time is it in Oslo?")))
    assert (text, calls, end.finish) == ("It is noon.", (), "stop")
    assert [message for _, message in at.remembered] == ["What time is it in Oslo?"]


async def test_a_model_that_says_nothing_is_asked_again_twice_and_then_there_is_a_sentence() -> None:
    at = visit(Choose({NONE: 1.0}), Write(()), Write(()), Write(()))
    text, _, end = await at.reply(Ask(user("Rain in Oslo?"), (WEATHER,)))
    assert (text, end.finish) == ("I am sorry, I found no answer to that.", "stop")
    assert "one sentence" in at.brain.asked[-1].messages[-1].content


async def test_arguments_that_are_cut_are_no_call() -> None:
    at = visit(Choose({"weather": 1.0}), Fill({"place": "Os"}, finish="length"))
    text, calls, end = await at.reply(Ask(user("Rain?"), (WEATHER,), choice="required", limit=3))
    assert (text, calls, end.finish) == ("", (), "length")


async def test_what_goes_in_circles_is_ended_with_an_answer() -> None:
    rounds = [each for i in range(8) for each in (replace(ASKED), Said("tool", f"try {i} later"))]
    at = visit(Write(("Try later.",)))
    text, _, end = await at.reply(Ask((*user("Rain in Oslo?"), *rounds), (WEATHER,)))
    assert (text, [level.name for level in end.levels]) == ("Try later.", ["answer"])


async def test_results_without_tools_are_answered_and_earlier_ones_are_not_told_to_our_skills() -> None:
    at = visit(Write(("It is dry.",)))
    assert (await at.reply(results("dry", ())))[0] == "It is dry."
    at.script(Choose({"reply": 1.0}), Write(("You are welcome.",)))
    before = results("dry").messages
    await at.reply(Ask((*before, Said("assistant", "It is dry."), *user("thank you"))))
    told = at.brain.asked[-1].messages[1:]
    assert [message.content for message in told] == ["Rain in Oslo?", "It is dry.", "thank you"]
    assert not any(message.calls for message in told)


async def test_what_a_guest_instructs_reaches_the_levels_that_write_below_our_rules() -> None:
    at = visit(Choose({"reply": 1.0}), Write(("Arr!",)))
    await at.reply(Ask((Said("system", "Talk like a pirate."), *user("hello"))))
    planner, reply = at.brain.asked
    assert not any("pirate" in message.content for message in planner.messages)
    assert reply.messages[0].content.endswith("Talk like a pirate.")
    assert reply.messages[0].content.startswith("You are a friendly household assistant")
    assert reply.constant == 0
    assert at.harness.instructions == ""


async def test_instructions_that_are_too_long_are_cut_with_a_mark_and_counted() -> None:
    at = visit(Choose({"reply": 1.0}), Write(("Arr!",)))
    _, _, end = await at.reply(Ask((Said("system", "pirate " * 2000), *user("hello"))))
    assert "characters cut]" in at.brain.asked[1].messages[0].content
    assert end.warnings == ("The system message has 2000 tokens and at most 800 are used; it was cut.",)


async def test_a_question_is_answered_by_the_same_conversation_alone() -> None:
    at = visit(Choose({"keep": 1.0}), Fill({"note": "tea"}), confirm=("write",))
    asked = Ask(user("Keep tea"))
    question, _, end = await at.reply(asked)
    assert "keep" in question
    assert end.finish == "stop"
    yes = Ask((*asked.messages, Said("assistant", question), Said("user", "Yes, please!")))
    at.script(Choose({"reply": 1.0}), Write(("Hm?",)))
    assert (await at.reply(replace(yes, guest="another")))[0] == "Hm?"
    assert at.house.ran == []
    assert (await at.reply(yes))[0] == 'Noted: "tea".'
    assert at.house.ran == [("keep", "tea")]
    assert "No question of that turn is open" in (await at.reply(yes))[0]


async def test_stop_strings_and_limits_cut_our_own_answers_too() -> None:
    at = visit(Choose({"clock": 1.0}), Fill({"place": ""}))
    text, _, end = await at.reply(Ask(user("What time is it?"), stop=(" noon",)))
    assert (text, end.finish) == ("It is", "stop")
    at.script(Choose({"clock": 1.0}), Fill({"place": ""}))
    text, _, end = await at.reply(Ask(user("What time is it?"), limit=2))
    assert (text.split(), end.finish) == (["It", "is"], "length")


async def test_a_schema_for_the_answer_is_filled_and_none_of_our_skills_runs() -> None:
    at = visit(Fill({"city": "Oslo"}))
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    text, _, end = await at.reply(Ask(user("Capital of Norway?"), schema=schema))
    assert json.loads(text) == {"city": "Oslo"}
    assert at.brain.schemas == [schema]
    assert [level.name for level in end.levels] == ["answer"]


async def test_a_tool_that_cannot_be_used_is_left_out_by_name_and_the_rest_work() -> None:
    odd = ToolSpec("odd", "Odd.", {"type": "object", "properties": {"x": {"not": {}}}})
    at = visit(Choose({"weather": 1.0}), Fill({"place": "Oslo"}))
    _, calls, end = await at.reply(Ask(user("Rain in Oslo?"), (odd, WEATHER), calls=1))
    assert calls[0].name == "weather"
    assert end.warnings[0].startswith(
        "odd was left out. The schema at /properties/x cannot be enforced (not)"
    )
    with pytest.raises(MisplacedError, match="names odd: The schema at"):
        await at.reply(Ask(user("Rain?"), (odd, WEATHER), named="odd"))
    with pytest.raises(MisplacedError, match="hold none that can be used; odd"):
        await at.reply(Ask(user("Rain?"), (odd,)))


async def test_the_oldest_messages_go_where_not_all_fit() -> None:
    at = visit(Choose({NONE: 1.0}), Write(("Yes.",)))
    long = "word " * (CONTEXT // 3)
    _, _, end = await at.reply(Ask(user(long, "ok", long, "ok", long, "ok", "Rain?"), (WEATHER,)))
    assert end.dropped == 2
    assert "left out" in at.brain.asked[0].messages[1].content
    with pytest.raises(TurnError, match=f"only {CONTEXT - 400} fit"):
        await at.reply(Ask(user("word " * CONTEXT), (WEATHER,)))


@pytest.mark.parametrize(
    ("messages", "at"),
    [
        (
            (*user("a"), Said("assistant", "", (Called("f", "{"),))),
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            (*user("a"), Said("assistant", "", (Called("f", "[]"),))),
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            (*user("a"), Said("assistant", "", (Called("f", '{"a":' * 500 + "1" + "}" * 500),))),
            "messages[1].tool_calls[0].function.arguments",
        ),
        ((*user("a"), ASKED), "messages[1].tool_calls[0]"),
        ((*user("a"), ASKED, *user("b")), "messages[1].tool_calls[0]"),
        ((*user("a"), Said("tool", "x", answers="c1")), "messages[1]"),
        ((*user("a"), ASKED, Said("tool", "x", answers="c2")), "messages[2]"),
        (user("a", "b"), "messages[1]"),
        ((Said("system", "a"),), "messages"),
    ],
)
async def test_a_conversation_that_is_wrong_says_where(messages: tuple[Said, ...], at: str) -> None:
    with pytest.raises(MisplacedError) as caught:
        await visit().reply(Ask(messages))
    assert caught.value.at == at
