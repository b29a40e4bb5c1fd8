"""Calls that act on the world: as many as were ordered, none without looking where looking comes first."""

from __future__ import annotations

import pytest

from muleteer.harness import orders
from muleteer.harness.dispatcher import Dispatcher
from muleteer.harness.ledger import Ledger
from muleteer.harness.tool_agent import ToolAgent
from muleteer.settings.sections import Budgets
from muleteer.tool import Result, Services, tool
from muleteer.toolbox import Toolbox
from tests.harness.scripted import Fill, ScriptedBrain


class Board:
    """A sensor and a switch that answer what they are told to, and what was switched."""

    def __init__(self) -> None:
        self.switched: list[str] = []
        self.reading = Result.ok("It is 21 degrees.")
        self.done = Result.ok("Done.")

        @tool(effect="read")
        async def sensor(name: str = "") -> Result:
            """Read a sensor.

            name: which
            """
            return self.reading

        @tool(effect="physical")
        async def switch(name: str, state: str) -> Result:
            """Switch something.

            name: what
            state: on or off
            """
            self.switched.append(name)
            return self.done

        self.toolbox = Toolbox.of([sensor, switch], Services())

    def dispatcher(
        self, *names: str, message: str = "", in_order: bool = False, deeds: int = 1
    ) -> Dispatcher:
        script = [Fill({"name": name, "state": "on"}) for name in names]
        agent = ToolAgent(ScriptedBrain(*script), Ledger(1000, lambda event: None), Budgets())
        said = message or " ".join(names)
        return Dispatcher(
            list(self.toolbox.tools.values()),
            agent,
            self.toolbox.call,
            [],
            lambda event: None,
            in_order,
            in_order,
            permit=lambda tool, arguments: orders.refusal(tool, arguments, said, ""),
            deeds={"switch": deeds},
        )


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.mark.parametrize("first", [Result.ok("Done."), Result.unavailable("Sent, but not confirmed.")])
async def test_one_order_is_one_deed_whatever_became_of_it(board: Board, first: Result) -> None:
    board.done = first
    calls = board.dispatcher("lamp", "pump")
    await calls.dispatch("switch", "the lamp")
    assert "switch" not in calls.open_tools()
    assert await calls.dispatch("switch", "the pump") == "refused: switch may not be used now."
    assert board.switched == ["lamp"]


async def test_a_skill_may_do_as_much_as_its_steps_name(board: Board) -> None:
    calls = board.dispatcher("lamp", "pump", "heater", deeds=2)
    for name in ("lamp", "pump", "heater"):
        await calls.dispatch("switch", name)
    assert board.switched == ["lamp", "pump"]


async def test_what_was_not_named_is_not_touched_and_that_is_said(board: Board) -> None:
    calls = board.dispatcher("pump", message="turn on the lamp")
    assert "pump was not asked for" in await calls.dispatch("switch", "turn on the lamp")
    assert board.switched == []
    assert "pump was not asked for" in calls.bridge.results[-1].text


async def test_in_order_nothing_is_switched_before_a_sensor_has_answered(board: Board) -> None:
    calls = board.dispatcher("lamp", in_order=True)
    assert calls.open_tools() == ["sensor"]
    assert await calls.dispatch("switch", "the lamp") == "refused: switch may not be used now."
    assert board.switched == []


async def test_in_order_nothing_is_switched_when_the_sensor_could_not_be_read(board: Board) -> None:
    board.reading = Result.unavailable("The greenhouse does not answer.")
    calls = board.dispatcher("greenhouse", "lamp", in_order=True)
    await calls.dispatch("sensor", "greenhouse")
    assert calls.open_tools() == ["sensor"]
    await calls.dispatch("switch", "the lamp")
    assert board.switched == []
