"""`/mcp` driven by the library's client in both eras: what is offered to whom, and what comes of a call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from mcp_types import ToolListChangedNotification

from muleteer.catalogue.declared import Loaded, handle_of
from muleteer.catalogue.steering import Steering, Wishes
from muleteer.gateway.mcp.calling import PRIVATE, PRIVATE_TALK
from muleteer.harness.events import CallFinished, CallStarted, Planned, TurnFailed
from muleteer.session import key_of
from tests.gateway.mcp.conftest import AGENT, MODES, TALKER, House, called
from tests.gateway.scripted import ASKED, FINISHED, LEVEL, STARTED, TEXT, within

READING = [
    "calculator",
    "check_calendar",
    "check_notebook",
    "current_time",
    "device_info",
    "find_file",
    "grep_memory",
    "http_get",
    "read_file",
    "sensor",
]
CHANGING = ("serial_send", "switch", "timer")
modes = pytest.mark.parametrize("mode", MODES)


async def names(client: Any) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@modes
async def test_what_is_offered_and_how(house: House, mode: str) -> None:
    async with house.client(mode) as client:
        listed = (await client.list_tools()).tools
        capabilities, instructions = client.server_capabilities.tools, client.instructions
    assert capabilities
    assert capabilities.list_changed
    assert "ask" in str(instructions)
    tools = {tool.name: tool for tool in listed}
    assert list(tools) == ["ask", "confirm", "search_memory", *sorted([*READING, "remember"])]
    assert not tools.keys() & {*CHANGING, "list_serial_ports"}, "they change something, or are hidden"
    shipped = house.catalogue.toolbox.tools["current_time"]
    assert tools["current_time"].description == shipped.description
    assert tools["current_time"].input_schema == {"type": "object", **shipped.parameters}
    hints = {name: tool.annotations.read_only_hint for name, tool in tools.items() if tool.annotations}
    assert [name for name, reads in hints.items() if not reads] == ["ask", "confirm", "remember"]


@modes
async def test_a_turn_is_asked_for_and_its_steps_are_told(house: House, mode: str) -> None:
    house.harness.script = (
        *(STARTED, LEVEL, CallStarted("clock", {"place": "secret"})),
        *(CallFinished("clock", "ok", "It is secret.", 3.0), TEXT, FINISHED),
    )
    async with house.client(mode) as client:
        result = await house.call(client, "ask", message="What time is it?", session="party")
        assert (result.content[0].text, result.is_error) == (FINISHED.answer, False)
        assert result.structured_content == {
            "status": "answered",
            "turn": "t1",
            "answer": FINISHED.answer,
            "calls": [],
        }
    (message, history), *_ = house.harness.asked
    assert (message, [each.content for each in history]) == ("What time is it?", ["said in party"])
    assert house.progress == [
        (1, "plan: 6 tokens read (4 known already), 1 written"),
        (2, "clock is called"),
        (3, "clock: ok"),
    ], "what was said is not in it"


@modes
async def test_a_question_is_returned_and_answered_by_a_second_call(house: House, mode: str) -> None:
    house.harness.script = (STARTED, LEVEL, ASKED)
    async with house.client(mode) as client:
        result = await house.call(client, "ask", message="Lamp on")
        assert result.structured_content == {
            "status": "confirm",
            "turn": "t1",
            "question": "Shall I?",
            "tool": "switch",
            "effect": "physical",
            "arguments": {"device": "lamp", "on": True},
            "seconds": 300.0,
            "calls": [],
        }
        assert result.content[0].text.startswith("Shall I?\n\nThis was not done yet.")
        assert house.harness.answered == [], "nobody but the agent's user says yes"
        house.harness.script = (STARTED, TEXT, FINISHED)
        done = await house.call(client, "confirm", turn="t1", yes=True)
        assert done.structured_content["status"] == "answered"
        again = await house.call(client, "confirm", turn="t1", yes=True)
    assert house.harness.answered == [("t1", True)]
    assert (again.is_error, again.content[0].text) == (True, "No question of that turn is open.")


@modes
async def test_a_question_is_not_answered_by_another_agent(house: House, mode: str) -> None:
    house.peer = AGENT
    for _ in range(2):
        house.harness.script = (STARTED, LEVEL, ASKED)
        async with house.client(mode) as client:
            await house.call(client, "ask", message="Lamp on")
        house.harness.script = (STARTED, TEXT, FINISHED)
        house.peer = TALKER
        async with house.client(mode) as client:
            other = await house.call(client, "confirm", turn="t1", yes=True)
        assert (other.is_error, other.content[0].text) == (True, "No question of that turn is open.")
        assert house.harness.answered == []
        house.peer = AGENT
        house.turns.recent.forget()
    async with house.client(mode) as client:
        mine = await house.call(client, "confirm", turn="t1", yes=True)
    assert mine.structured_content["status"] == "answered"
    assert house.harness.answered == [("t1", True)]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("ask", {}, 'The key "message" is missing'),
        ("ask", {"message": " \n"}, "The message is empty"),
        ("ask", {"message": "x\0"}, "zero character"),
        ("ask", {"message": "x", "session": "a b"}, "A session's name has"),
        ("ask", {"message": "x", "brain": "big"}, "ask takes a message and a session, not brain."),
        ("ask", {"message": "x" * 70_000}, "The message has 70000 bytes"),
        ("confirm", {"turn": "t1", "yes": "yes"}, "The arguments are wrong: yes:"),
        ("confirm", {"turn": "t9", "yes": True}, "No question of that turn is open."),
        ("search_memory", {"words": "x"}, "The arguments are wrong: words:"),
        ("current_time", {"city": "Rome"}, "there is no parameter 'city'"),
        ("switch", {"name": "lamp", "on": True}, "There is no tool 'switch'; there are ask, confirm,"),
        ("nothing", {}, "There is no tool 'nothing'; there are ask, confirm,"),
    ],
)
async def test_a_wrong_call_gets_one_sentence(
    house: House, name: str, arguments: dict[str, object], said: str
) -> None:
    async with house.client() as client:
        result = await called(client, name, arguments)
    assert result.is_error
    assert said in result.content[0].text


async def test_a_failed_turn_and_a_fault_of_ours_are_errors_of_the_tool(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    async with house.client() as client:
        house.harness.script = (STARTED, TurnFailed("t1", "too_long", "Too long.", 413, ()))
        failed = await called(client, "ask", {"message": "x"})
        assert (failed.is_error, failed.content[0].text) == (True, "Too long.")
        house.harness.script = (STARTED, ValueError("secret"))
        crashed = await called(client, "ask", {"message": "x"})
    assert crashed.is_error
    assert "secret" not in crashed.content[0].text


async def test_memory_is_searched_and_added_to(house: House) -> None:
    async with house.client() as client:
        found = await called(client, "search_memory", {"query": "key"})
        later = await called(client, "search_memory", {"query": "cat", "when": "yesterday"})
        noted = await called(client, "remember", {"note": "The bin goes out on Monday."})
    kinds = [each["tool"] for each in found.structured_content["results"]]
    assert kinds == ["check_notebook", "grep_memory"]
    text = found.content[0].text
    assert ("under the pot" in text, "in the shed" in text) == (True, True)
    assert [each["tool"] for each in later.structured_content["results"]] == ["grep_memory"]
    assert (noted.is_error, house.notes.added) == (False, ["The bin goes out on Monday."])


class TestWriting:
    @pytest.fixture
    def ask_before(self) -> tuple[str, ...]:
        return ("write", "physical")

    async def test_where_writing_needs_a_yes_only_a_turn_writes(self, house: House) -> None:
        async with house.client() as client:
            assert "remember" not in await names(client)
            refused = await called(client, "remember", {"note": "x"})
        assert (refused.is_error, house.notes.added) == (True, [])


@modes
async def test_a_token_without_tools_sees_and_calls_only_turns(house: House, mode: str) -> None:
    house.peer = TALKER
    async with house.client(mode) as client:
        assert await names(client) == ["ask", "confirm"]
        assert not (await called(client, "ask", {"message": "x"})).is_error
        for name in ("current_time", "remember", "search_memory"):
            refused = await called(client, name, {})
            assert (refused.is_error, refused.content[0].text) == (
                True,
                f"{name} needs a token that has the scope tools.",
            )


async def test_a_private_turn_does_not_go_over_the_network(house: House) -> None:
    plan = Planned(("diary",), 0.9, 1)
    private = replace(FINISHED, handles=("diary",))
    hold = asyncio.Event()
    async with house.client() as client:
        house.harness.script = (STARTED, plan, TEXT, private)
        assert (await called(client, "ask", {"message": "x"})).content[0].text == FINISHED.answer
        house.peer = AGENT
        house.harness.script = (STARTED, plan, hold, TEXT, private)  # it is stopped, not waited for
        withheld = await called(client, "ask", {"message": "x"})
        house.harness.script = (STARTED, TEXT, private)
        late = await called(client, "ask", {"message": "x"})
    assert [(each.is_error, each.content[0].text) for each in (withheld, late)] == [(True, PRIVATE)] * 2


async def test_private_talk_is_neither_gone_on_with_nor_found_over_the_network(house: House) -> None:
    for key in ("s1", key_of("s1", AGENT.keeper)):
        await house.privacy.note(key, "Where is the cat?", "The cat is in the shed, as always.")
    async with house.client() as client:
        assert "in the shed" in (await called(client, "search_memory", {})).content[0].text
        assert not (await called(client, "ask", {"message": "x", "session": "s1"})).is_error
        house.peer = AGENT
        found = await called(client, "search_memory", {})
        direct = await called(client, "grep_memory", {})
        asked = await called(client, "ask", {"message": "x", "session": "s1"})
    assert "under the pot" in found.content[0].text
    assert "in the shed" not in found.content[0].text + direct.content[0].text
    assert (asked.is_error, asked.content[0].text) == (True, PRIVATE_TALK)


def steer(house: House, off: str = "", old: str = "", new: str = "") -> None:
    """What `muleteer tools disable` and `rename` come to."""
    toolbox = house.catalogue.toolbox
    if off:
        toolbox.disable(off, "turned off")
    if old:
        loaded: Loaded = toolbox._loaded[old]
        toolbox.disable(old, "renamed")
        toolbox.adopt(loaded.named(new), "shipped")
        toolbox.were[new] = old
    house.catalogue = replace(
        house.catalogue, steering=Steering(tools=Wishes(off=frozenset({handle_of(off)} - {""})))
    )
    house.broadcast.publish("tools.changed", {})


async def test_what_is_turned_off_or_renamed_is_so_here_too(house: House) -> None:
    steer(house, off="grep_memory", old="current_time", new="clock")
    async with house.client() as client:
        listed = await names(client)
        assert "clock" in listed
        assert not {"grep_memory", "current_time"} & set(listed)
        assert not (await called(client, "clock", {})).is_error
        assert (await called(client, "current_time", {})).is_error
        found = (await called(client, "search_memory", {})).structured_content["results"]
        assert [each["tool"] for each in found] == ["check_notebook"]
        dated = await called(client, "search_memory", {"when": "today"})
        assert (dated.is_error, "turned off" in dated.content[0].text) == (True, True)
        steer(house, off="check_notebook")
        assert "search_memory" not in await names(client)


async def test_offline_tools_of_the_network_say_so(house: House) -> None:
    async with house.client() as client:
        result = await called(client, "http_get", {"url": "example.org"})
    assert result.is_error
    assert "network" in result.content[0].text


async def test_a_changed_catalogue_is_told_to_a_client_of_the_older_era(house: House) -> None:
    heard: asyncio.Queue[object] = asyncio.Queue()

    async def hear(message: object) -> None:
        heard.put_nowait(message)

    async with house.client("legacy", message_handler=hear) as client:
        await client.list_tools()
        async with asyncio.timeout(10):
            while heard.empty():  # its stream is opened a little after the handshake
                steer(house, off="sensor")
                await client.list_tools()
        assert isinstance(heard.get_nowait(), ToolListChangedNotification)


async def test_a_changed_catalogue_is_told_to_a_client_of_the_newer_era(house: House) -> None:
    async with house.client() as client, client.listen(tools_list_changed=True) as news:
        steer(house, off="sensor")
        async with asyncio.timeout(10):
            assert type(await anext(news)).__name__ == "ToolsListChanged"
        assert "sensor" not in await names(client)


@modes
async def test_cancelling_a_call_frees_the_engine(house: House, mode: str) -> None:
    house.harness.script = (STARTED, asyncio.Event(), FINISHED)
    async with house.client(mode) as client:
        asking = asyncio.create_task(called(client, "ask", {"message": "x"}))
        await within(house.harness.waiting)
        asking.cancel()
        await within(house.harness.freed)
        assert not (await called(client, "current_time", {})).is_error, "the connection goes on"


@modes
async def test_a_client_that_goes_away_frees_the_engine(house: House, mode: str) -> None:
    house.harness.script = (STARTED, asyncio.Event(), FINISHED)

    async def ask() -> None:
        async with house.client(mode) as client:
            await called(client, "ask", {"message": "x"})

    asking = asyncio.create_task(ask())
    await within(house.harness.waiting)
    asking.cancel()
    await within(house.harness.freed)
    await asyncio.wait({asking})
