"""Discipline over calls: names, repeats, limits, authority."""

import pytest

from muleteer.harness.dispatcher import CONTROL_CHARACTERS, Dispatcher, control_line
from muleteer.harness.follower import in_order
from muleteer.harness.ledger import Ledger
from muleteer.harness.signals import ToolLoopHalt
from muleteer.harness.tool_agent import ToolAgent
from muleteer.settings.sections import Budgets
from muleteer.tool import Data, Result
from tests.harness.conftest import House
from tests.harness.scripted import Fill, Scripted, ScriptedBrain


def dispatcher(house: House, *script: Scripted) -> Dispatcher:
    agent = ToolAgent(ScriptedBrain(*script), Ledger(1000, lambda event: None), Budgets())
    toolbox = house.catalogue.toolbox
    return Dispatcher(list(toolbox.tools.values()), agent, toolbox.call, [], lambda event: None)


@pytest.mark.parametrize("name", ["clock", "CLOCK", "functions.clock", "tools/clock", "@clock"])
async def test_the_form_of_a_name_is_repaired(house: House, name: str) -> None:
    assert await dispatcher(house, Fill({"place": "Rome"})).dispatch(name, "time") == "ok: It is noon."
    assert house.ran == [("clock", "Rome")]


@pytest.mark.parametrize("name", ["find-note", "Find_Note"])
async def test_dashes_and_case_are_form(house: House, name: str) -> None:
    assert (await dispatcher(house, Fill({"query": "tea"})).dispatch(name, "tea")).startswith("ok: ")


@pytest.mark.parametrize("name", ["clocks", "list-ports", "LIST_PORTS", "find", "", "kep"])
async def test_a_near_or_hidden_name_is_no_authority(house: House, name: str) -> None:
    control = await dispatcher(house).dispatch(name, "x")
    options = "clock (3 left), find_note (3 left), keep (3 left), ping (3 left)"
    assert control == f"error: unknown tool '{name}'. Available calls: {options}"
    assert house.ran == []


async def test_a_hidden_tool_answers_to_its_exact_name(house: House) -> None:
    assert await dispatcher(house).dispatch("list_ports", "x") == "ok: none"


async def test_unknown_names_are_bounded(house: House) -> None:
    calls = dispatcher(house)
    for name in ("a", "b", "c"):
        await calls.dispatch(name, "x")
    with pytest.raises(ToolLoopHalt):
        await calls.dispatch("d", "x")


async def test_three_calls_a_tool_then_halt(house: House) -> None:
    calls = dispatcher(house, *(Fill({"place": place}) for place in ("a", "b", "c")))
    for place in ("a", "b", "c"):
        assert (await calls.dispatch("clock", place)).startswith("ok")
    with pytest.raises(ToolLoopHalt, match="clock"):
        await calls.dispatch("clock", "d")
    assert [argument for _, argument in house.ran] == ["a", "b", "c"]


async def test_the_same_call_in_another_order_of_keys_is_the_same(house: House) -> None:
    calls = dispatcher(house, Fill({"place": "a"}), Fill({"place": "a"}))
    await calls.dispatch("clock", "one way")
    assert (await calls.dispatch("clock", "another way")).startswith("refused:")
    assert len(house.ran) == 1


async def test_arguments_that_could_not_be_written_run_nothing(house: House) -> None:
    control = await dispatcher(house, Fill({"note": "x"}, finish="length")).dispatch("keep", "x")
    assert control.startswith("error:")
    assert house.ran == []


async def test_payloads_go_to_the_bridge_and_not_up(house: House) -> None:
    house.results["clock"] = [Result.ok("It is noon.", Data({"iso": "12:00"}))]
    calls = dispatcher(house, Fill({"place": ""}))
    assert "12:00" not in await calls.dispatch("clock", "time")
    assert calls.bridge.results[0].payload == Data({"iso": "12:00"})


async def test_what_is_used_up_or_repeated_is_no_longer_open(house: House) -> None:
    same, other = Fill({"place": "a"}), [Fill({"query": str(i)}) for i in range(3)]
    calls = dispatcher(house, same, same, *other)
    assert calls.open_tools() == ["clock", "find_note", "keep", "ping"]
    await calls.dispatch("clock", "one way")
    assert "clock" in calls.open_tools()
    await calls.dispatch("clock", "another way")
    assert "clock" not in calls.open_tools()
    for _ in range(3):
        await calls.dispatch("find_note", "x")
    assert calls.open_tools() == ["keep", "ping"]


async def test_numbered_steps_cannot_be_skipped(house: House) -> None:
    agent = ToolAgent(
        ScriptedBrain(Fill({"place": ""}), Fill({"query": "x"})), Ledger(1000, lambda event: None), Budgets()
    )
    toolbox = house.catalogue.toolbox
    calls = Dispatcher(
        list(toolbox.tools.values()), agent, toolbox.call, [], lambda event: None, in_order=True
    )
    assert calls.open_tools() == ["clock"]
    await calls.dispatch("clock", "time")
    assert calls.open_tools() == ["clock", "find_note"]
    await calls.dispatch("find_note", "x")
    assert calls.open_tools() == ["clock", "find_note", "keep"]


def test_a_numbered_list_is_a_sequence_and_a_bulleted_one_a_choice() -> None:
    assert in_order("1. Ask @clock.\n2. Then @keep.")
    assert in_order("First look:\n\n1) Ask @clock.")
    assert not in_order("- To read:\n  1. Ask @clock.\n- To keep, @keep.")
    assert not in_order("Use @clock.\n\nIn\n2024. it was so")
    assert not in_order("- To read, @clock.\n- To keep, @keep.")
    assert not in_order("At 7.30 ask @clock.")


def test_a_long_result_is_cut_with_a_mark() -> None:
    line = control_line(Result.ok("x" * 200_000))
    assert len(line) < CONTROL_CHARACTERS + 50
    assert line.endswith("characters cut]")
