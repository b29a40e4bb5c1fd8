"""L2 and L3 on a free brain: calls made, corrected, refused and ended; arguments that are checked."""

from __future__ import annotations

import pytest

from muleteer.harness.dispatcher import CALLS_PER_TOOL, Dispatcher
from muleteer.harness.events import CallUse, Event
from muleteer.harness.free import follower, tool_agent
from muleteer.harness.free.follower import FreeFollower
from muleteer.harness.free.listening import Listener
from muleteer.harness.free.tool_agent import FreeToolAgent
from muleteer.harness.ledger import Ledger
from muleteer.harness.signals import ToolLoopHalt
from muleteer.settings.sections import Budgets
from muleteer.tool import Result
from tests.harness.conftest import House
from tests.harness.free.scripted import FreeBrain, Line, Say, ask, call

RATIONALE = "I'll use @look-up to find the keys."


class Level:
    """L2 over the house's tools, with L3 below it; both listen to one brain."""

    def __init__(
        self, house: House, *script: Line, names: tuple[str, ...] = ("clock", "find_note", "list_ports")
    ) -> None:
        self.brain = FreeBrain(*script)
        self.events: list[Event] = []
        self.calls: list[CallUse] = []
        listener = Listener(self.brain, Ledger(100_000, self.events.append))
        self.tools = [house.catalogue.toolbox.tools[name] for name in names]
        self.agent = FreeToolAgent(listener, Budgets())
        toolbox = house.catalogue.toolbox
        self.dispatcher = Dispatcher(self.tools, self.agent, toolbox.call, self.calls, self.events.append)
        self.follower = FreeFollower(listener, Budgets())

    async def follow(self, message: str = "where are my keys") -> str:
        prompt = follower.opening(self.tools, "1. Ask @find-note.", message, RATIONALE)
        said = await self.follower.follow(self.dispatcher, self.tools, prompt)
        assert not self.brain.script, "something was not asked"
        return said

    def told(self, request: int = -1) -> str:
        return self.brain.asked[request].messages[-1].content


async def test_calls_results_and_an_end(house: House) -> None:
    level = Level(
        house, ask("find_note", "where the keys are"), call("find_note", query="keys"), "In the note: tea."
    )
    assert await level.follow() == "In the note: tea."
    assert house.ran == [("find_note", "keys")]
    first, third = level.brain.asked[0], level.brain.asked[2]
    assert third.messages[: len(first.messages)] == first.messages, "the conversation only grows"
    assert [tool.name for tool in first.tools] == ["call_tool"]
    assert RATIONALE in first.messages[-1].content
    assert "find_note(query)" in first.messages[0].content
    assert "list_ports" not in str(first), "hidden tools are bound and not shown"
    assert "properties" not in first.messages[0].content
    agent = level.brain.asked[1]
    assert [tool.name for tool in agent.tools] == ["find_note"]
    assert "where are my keys" not in str(agent), "L3 sees no conversation"
    assert third.messages[-1].content.startswith("ok: ")


@pytest.mark.parametrize(
    "text",
    [
        '```homeassistant\n{"name":"call_tool","parameters": {"tool": "find_note", "instruction": "k"}}\n```',
        '{"name": "call_tool", "arguments": {"tool": "find_note", "instruction": "keys"}}',
        '[call_tool(tool="find_note", instruction="keys")]',
        '{"arguments": {"instruction": "keys", "tool": "find_note"}, "name": "call_tool"}',
    ],
)
async def test_a_call_printed_as_text_is_made_once_and_never_shown(house: House, text: str) -> None:
    """Field reports A3, A4, A8, A11."""
    level = Level(house, text, call("find_note", query="keys"), "Under the pot.")
    assert await level.follow() == "Under the pot."
    assert house.ran == [("find_note", "keys")]


async def test_a_tool_called_by_its_own_name_is_asked_through_l3(house: House) -> None:
    level = Level(
        house, call("find_note", query="keys"), call("find_note", query="key ring"), "Done looking."
    )
    await level.follow()
    assert house.ran == [("find_note", "key ring")]
    assert level.told(1) == "query: keys"


async def test_telling_instead_of_calling_is_corrected(house: House) -> None:
    """Field report A: "I'll use find_note to look", and nothing runs."""
    level = Level(house, "I'll use find_note to look for them.", ask("clock"), call("clock"), "It is noon.")
    assert await level.follow() == "It is noon."
    assert level.told(1).startswith("<correction>Nothing was called yet")


async def test_telling_for_ever_ends(house: House) -> None:
    level = Level(house, *["I am looking."] * (follower.CORRECTIONS + 1))
    assert await level.follow() == ""
    assert house.ran == []


@pytest.mark.parametrize(
    "name", ["find_notes", "functions.nothing", "", "\N{SNOWMAN}" * 90, "x" * 4000, "note"]
)
async def test_an_unknown_tool_is_answered_by_the_real_ones(house: House, name: str) -> None:
    """Field reports C7, H3."""
    level = Level(house, ask(name), "I cannot.", *["I cannot."] * (not name))
    try:
        await level.follow()
    finally:
        assert house.ran == []
    assert "clock" in level.told(1)
    assert len(level.told(1)) < 600
    assert "list_ports" not in level.told(1)


@pytest.mark.parametrize("name", ["functions.find_note", "tools/find_note", "Find-Note", "@find_note"])
async def test_form_of_a_name_is_repaired(house: House, name: str) -> None:
    """Field report C6."""
    level = Level(house, ask(name), call("find_note", query="x"), "Found.")
    await level.follow()
    assert house.ran == [("find_note", "x")]


async def test_a_circle_is_halted(house: House) -> None:
    """Field report H1: the second exact call is refused, the fourth is impossible."""
    script = [line for _ in range(CALLS_PER_TOOL) for line in (ask("find_note"),)]
    level = Level(house, script[0], call("find_note", query="x"), *script[1:], ask("find_note"))
    with pytest.raises(ToolLoopHalt):
        await level.follow()
    assert house.ran == [("find_note", "x")]


async def test_steps_have_an_end(house: House) -> None:
    level = Level(
        house, *[Say(calls=(("call_tool", {"tool": f"no_{n}", "instruction": "x"}),)) for n in range(40)]
    )
    with pytest.raises(ToolLoopHalt):
        await level.follow()
    assert len(level.brain.asked) <= follower.ROUNDS


@pytest.mark.parametrize("broken", ["{broken", "", "[]"])
async def test_a_call_that_cannot_be_read_is_corrected_and_not_run(house: House, broken: str) -> None:
    """Field reports B5, B6."""
    level = Level(house, Say(calls=(("call_tool", broken),)), "I cannot.", "I cannot.")
    await level.follow()
    assert house.ran == []
    assert level.told(1).startswith("<correction>That was no call")


async def test_several_calls_in_one_reply_are_made_in_order(house: House) -> None:
    two = Say(calls=tuple(("call_tool", {"tool": n, "instruction": "x"}) for n in ("clock", "find_note")))
    level = Level(house, two, call("clock", place="Rome"), call("find_note", query="y"), "Both.")
    await level.follow()
    assert house.ran == [("clock", "Rome"), ("find_note", "y")]
    made, one, two_ = level.brain.asked[-1].messages[-3:]
    assert [name for name, _ in made.calls] == ["call_tool", "call_tool"]
    assert (one.role, two_.role) == ("tool", "tool")


async def arguments(house: House, tool: str, *script: Line) -> tuple[object, Level]:
    level = Level(house, *script, names=(tool,))
    got = await level.agent.arguments(level.tools[0], "the request")
    assert not level.brain.script, "something was not asked"
    return got, level


async def test_arguments_are_checked_and_corrected(house: House) -> None:
    got, level = await arguments(
        house, "find_note", call("find_note"), call("find_note", query=7), call("find_note", query="tea")
    )
    assert got == {"query": "tea"}
    assert "'query' is a required property" in level.told(1)
    assert "query: 7 is not of type 'string'" in level.told(2)


@pytest.mark.parametrize(
    "bad",
    [
        "In my opinion it is tea.",
        call("find_note", query="x", extra=1),
        Say(calls=(("find_note", "{"),)),
        Say('{"name": "find_note", "arguments": {"query": "tea", "limit'),
    ],
)
async def test_what_cannot_be_mended_is_no_call(house: House, bad: Line) -> None:
    """Field reports B2, B5: never a call with empty arguments."""
    got, level = await arguments(house, "find_note", *[bad] * (tool_agent.CORRECTIONS + 1))
    assert got is None
    assert all(each.messages[-1].content.startswith("<correction>") for each in level.brain.asked[1:])


async def test_a_tool_without_parameters_costs_nothing(house: House) -> None:
    assert (await arguments(house, "ping"))[0] == {}


async def test_every_cut_of_a_call_is_read_or_corrected(house: House) -> None:
    """Field report B2: cut after every byte."""
    whole = '{"name": "keep", "arguments": {"note": "the key is under the pot"}}'
    for cut in range(1, len(whole)):
        level = Level(house, whole[:cut], call("keep", note="good"), names=("keep",))
        got = await level.agent.arguments(level.tools[0], "the request")
        assert got in ({"note": "good"}, {"note": "the key is under the pot"}), whole[:cut]


async def test_a_tool_that_asks_again_and_again_ends(house: House) -> None:
    """Field report B9: bounded, then honest."""
    house.results["find_note"] = [Result.error("Say the fuller name.")] * 9
    tries = [
        line
        for n in range(CALLS_PER_TOOL)
        for line in (ask("find_note", f"name {n}"), call("find_note", query=f"{n}"))
    ]
    level = Level(house, *tries, ask("find_note", "once more"))
    with pytest.raises(ToolLoopHalt):
        await level.follow()
    assert len(house.ran) == CALLS_PER_TOOL
    assert level.dispatcher.bridge.results[-1].text == "Say the fuller name."
