"""A caller's own tools on a scripted brain: what is shown, scored, filled and refused."""

from __future__ import annotations

from typing import Any

from muleteer.engine.protocol import Message, ToolSpec
from muleteer.harness.ledger import Ledger
from muleteer.harness.staged import NONE, SCORED, WHOLE, Called, Staged
from tests.harness.scripted import Choose, Fill, ScriptedBrain

PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}


def spec(name: str, description: str = "", parameters: dict[str, Any] | None = None) -> ToolSpec:
    return ToolSpec(name, description or f"Does {name}.", PLACE if parameters is None else parameters)


def said(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def ledger() -> Ledger:
    return Ledger(10_000, lambda event: None)


async def test_one_choice_and_one_fill_make_a_call() -> None:
    brain = ScriptedBrain(Choose({"weather": 0.9, NONE: 0.1}), Fill({"place": "Oslo"}))
    book = ledger()
    found = await Staged([spec("weather"), spec("traffic")]).decide(brain, book, said("rain in Oslo?"))
    assert found.calls == (Called("weather", {"place": "Oslo"}),)
    assert [level.name for level in book.levels] == ["choice", "agent"]
    assert tuple(brain.options[0]) == ("weather", "traffic", NONE)
    menu = brain.asked[0].messages[0].content
    assert "- weather: Does weather." in menu
    assert "place" not in menu  # no schema is shown before one is chosen
    (tool,) = brain.asked[1].tools
    assert tool.name == "weather"
    assert brain.asked[1].begin_call


async def test_none_is_no_call_unless_there_must_be_one() -> None:
    shares = {"weather": 0.3, NONE: 0.7}
    staged = Staged([spec("weather")])
    nothing = await staged.decide(ScriptedBrain(Choose(shares)), ledger(), said("tell a joke"))
    assert nothing.calls == ()
    brain = ScriptedBrain(Choose(shares), Fill({"place": ""}))
    forced = await staged.decide(brain, ledger(), said("tell a joke"), must=True)
    assert [call.name for call in forced.calls] == ["weather"]


async def test_a_tool_without_parameters_costs_no_fill() -> None:
    brain = ScriptedBrain(Choose({"ping": 1.0}))
    found = await Staged([spec("ping", parameters={})]).decide(brain, ledger(), said("ping"))
    assert found.calls == (Called("ping", {}),)


async def test_arguments_that_do_not_come_to_an_end_are_no_call() -> None:
    brain = ScriptedBrain(Choose({"weather": 1.0}), Fill({"place": "Os"}, finish="length"))
    assert (await Staged([spec("weather")]).decide(brain, ledger(), said("?"))).calls == ()


async def test_a_schema_that_cannot_be_enforced_is_refused_by_name_and_never_offered() -> None:
    odd = spec("odd", parameters={"type": "object", "not": {}})
    brain = ScriptedBrain(Choose({NONE: 1.0}))
    staged = Staged([odd, spec("weather"), spec("weather"), spec(NONE)])
    await staged.decide(brain, ledger(), said("?"))
    assert "not" in staged.refused["odd"]
    assert "rename" in staged.refused["weather"]
    assert "rename" in staged.refused[NONE]
    assert tuple(brain.options[0]) == ("weather", NONE)


async def test_with_nothing_to_call_nothing_is_asked() -> None:
    assert (await Staged([]).decide(ScriptedBrain(), ledger(), said("?"))).calls == ()


async def test_of_many_tools_the_likely_ones_are_scored_and_a_long_menu_shows_no_others() -> None:
    for number, shown in ((WHOLE, WHOLE), (80, 2)):
        tools = [spec(f"tool_{i}", f"Handles matter {i}.") for i in range(number - 1)]
        tools.append(spec("get_weather", "The weather forecast for a city."))
        brain = ScriptedBrain(Choose({"get_weather": 1.0}), Fill({"place": "Oslo"}))
        found = await Staged(tools).decide(brain, ledger(), said("What is the weather in the city of Oslo?"))
        assert found.calls[0].name == "get_weather"
        assert len(brain.options[0]) == 2 + 1  # nothing else is nearly as like by words; and none
        assert brain.asked[0].messages[0].content.count("\n- ") == shown + 1  # and none


def test_the_constant_prompts_are_the_menu_and_the_named_tools() -> None:
    staged = Staged([spec("weather"), spec("traffic")])
    menu, agent = staged.constants(["traffic", "gone"])
    assert "traffic" in menu.messages[0].content
    assert [tool.name for tool in agent.tools] == ["traffic"]
    assert Staged([spec(f"t{i}") for i in range(WHOLE + 1)]).constants() == []


async def test_no_more_than_so_many_are_scored_however_alike_they_are() -> None:
    tools = [spec(f"weather_{i}", "The weather in a city.") for i in range(30)]
    brain = ScriptedBrain(Choose({NONE: 1.0}))
    await Staged(tools).decide(brain, ledger(), said("What is the weather in the city?"))
    assert len(brain.options[0]) == SCORED + 1


MANY = [spec(f"tool_{i}", f"Does thing {i}.") for i in range(30)]


async def test_where_the_words_lead_nowhere_every_name_is_looked_at_and_the_likeliest_again() -> None:
    far = [*MANY, spec("turn_off_light", "Switch a light off.")]
    brain = ScriptedBrain(
        Choose({NONE: 0.6, "tool_0": 0.4}),
        Choose({"turn_off_light": 0.7, "tool_9": 0.2, NONE: 0.1}),
        Choose({"turn_off_light": 0.9, NONE: 0.1}),
        Fill({"place": "Küche"}),
    )
    found = await Staged(far).decide(brain, ledger(), said("Mach die Küche dunkel"), wide=1000)
    assert [call.name for call in found.calls] == ["turn_off_light"]
    narrow, every, again = (set(options) for options in brain.options)
    assert "turn_off_light" not in narrow
    assert len(every) == len(far) + 1
    assert {"turn_off_light", "tool_0", "tool_9", NONE} <= again
    assert len(again) <= 7


async def test_no_second_look_where_the_first_is_sure_or_the_menu_does_not_fit_or_none_is_meant_twice() -> (
    None
):
    sure = ScriptedBrain(Choose({"tool_3": 0.8, NONE: 0.2}), Fill({"place": ""}))
    assert (await Staged(MANY).decide(sure, ledger(), said("thing 3"), wide=1000)).calls
    doubt = Choose({NONE: 0.9, "tool_0": 0.1})
    assert not (await Staged(MANY).decide(ScriptedBrain(doubt), ledger(), said("?"), wide=50)).calls
    assert not (await Staged(MANY).decide(ScriptedBrain(doubt, doubt), ledger(), said("?"), wide=1000)).calls


async def test_results_are_shown_and_their_call_is_not_asked_for_again() -> None:
    done = [(Called("weather", {"place": "Oslo"}), "dry " * 2000)]
    brain = ScriptedBrain(Choose({"weather": 1.0}), Fill({"place": "Oslo"}))
    found = await Staged([spec("weather")]).decide(brain, ledger(), said("Oslo?"), results=done)
    assert found.calls == ()
    shown = brain.asked[0].messages[-1].content
    assert 'weather({"place": "Oslo"}): dry' in shown
    assert "characters cut]" in shown


async def test_a_callers_instructions_are_for_the_arguments_and_stand_below_our_rules() -> None:
    brain = ScriptedBrain(Choose({"weather": 0.9, NONE: 0.1}), Fill({"place": "Rome"}))
    told = (Message("system", "Rooms: hall."), *said("?"))
    await Staged([spec("weather")], pinned=False).decide(brain, ledger(), told)
    choosing, filling = (asked.messages for asked in brain.asked)
    assert [each.role for each in choosing] == [each.role for each in filling] == ["system", "user"]
    assert choosing[0].content.startswith("You choose the function")
    assert "Rooms: hall." not in choosing[0].content
    assert filling[0].content.startswith("You call exactly one function")
    assert filling[0].content.endswith("Rooms: hall.")
    assert [asked.constant for asked in brain.asked] == [0, 0]
