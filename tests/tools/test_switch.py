"""Switched means that the device said so; whatever else happened is told as what it was."""

from __future__ import annotations

from typing import Any

import pytest

from muleteer.catalogue.offering import OTHER
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Data, Result, Services, Status
from muleteer.toolbox import Toolbox
from tests.ports.conftest import LAMP, Plug, Serve
from tests.ports.microcontroller import greenhouse
from tests.tools.conftest import call, same_parameters, with_services
from tools.switch import switch

SWITCHES = {"lamp": LAMP | {"pause": 60}, "pond_pump": {"on": "P1", "off": "P0"}}


@pytest.fixture
def home(notebook: SqliteNotebook, serve: Serve) -> Toolbox:
    return with_services(Services(notebook, serial=serve(timeout=0.3, switches=SWITCHES)))


async def test_the_schema_is_the_signature_and_forces_no_name(home: Toolbox) -> None:
    assert same_parameters(home, switch)
    schema = home.tools["switch"].parameters["properties"]
    assert "enum" not in schema["name"]
    assert schema["state"]["enum"] == ["on", "off"]
    assert home.tools["switch"].effect == "physical"


@pytest.mark.parametrize("state", ["on", "ON ", "an", "turn on", True, 1])
async def test_ok_once_the_device_has_confirmed(plug: Plug, home: Toolbox, state: Any) -> None:
    board = plug()
    result = await call(home, "switch", name="the lamp", state=state)
    assert result == Result.ok("The lamp is on now.", Data({"name": "lamp", "state": "on"}), ("lamp",))
    assert board.heard == ["L1"]


@pytest.mark.parametrize("name", ["", "lamps", "lam", "kitchen light", OTHER])
async def test_empty_switches_nothing(plug: Plug, home: Toolbox, name: str) -> None:
    board = plug()
    result = await call(home, "switch", name=name, state="on")
    assert result == Result.empty(
        "There is no such switch, so nothing was switched. There are: lamp, pond pump."
    )
    assert board.heard == []


async def test_unavailable_when_the_device_is_away(home: Toolbox) -> None:
    result = await call(home, "switch", name="lamp", state="off")
    assert result.status is Status.UNAVAILABLE
    assert result.text.startswith("The lamp was not switched: the device board is not plugged in")


async def test_unavailable_when_nothing_is_set_up(
    toolbox: Toolbox, notebook: SqliteNotebook, serve: Serve
) -> None:
    none = with_services(Services(notebook, serial=serve()))
    assert "[serial.devices]" in (await call(none, "switch", name="lamp", state="on")).text
    assert (await call(toolbox, "switch", name="lamp", state="on")).status is Status.UNAVAILABLE


async def test_sent_and_not_confirmed_is_not_ok(plug: Plug, home: Toolbox) -> None:
    board = plug(lambda _: ())
    result = await call(home, "switch", name="lamp", state="on")
    assert result == Result.unavailable(
        "I told the lamp to switch on, but it is not confirmed: the device board did not answer within 0.3 s."
    )
    result = await call(home, "switch", name="pond_pump", state="off")
    assert result == Result.unavailable(
        "I told the pond pump to switch off, but it is not confirmed: "
        "the settings have no when_on and when_off for it."
    )
    board.hears(2)
    assert board.heard == ["L1", "P0"]


async def test_error_when_the_device_says_the_opposite(
    plug: Plug, notebook: SqliteNotebook, serve: Serve
) -> None:
    plug(lambda line: (b"L=0\n",) if line == "L?" else (b"TOO HOT\n",))
    ports = serve(switches={"lamp": LAMP | {"state": "L?"}})
    result = await call(with_services(Services(notebook, serial=ports)), "switch", name="lamp", state="on")
    assert result == Result.error("I told the lamp to switch on, but the device says that it is off.")


async def test_error_when_it_must_rest(plug: Plug, home: Toolbox) -> None:
    board = plug(greenhouse)
    assert (await call(home, "switch", name="lamp", state="on")).status is Status.OK
    result = await call(home, "switch", name="lamp", state="off")
    assert result.status is Status.ERROR
    assert result.text.startswith("The lamp was not switched: it was switched ")
    assert board.heard == ["L1"]


@pytest.mark.parametrize("state", ["status", "", "is it on", "blue", 2])
async def test_what_is_neither_on_nor_off_switches_nothing(plug: Plug, home: Toolbox, state: object) -> None:
    board = plug()
    result = await call(home, "switch", name="lamp", state=state)
    assert result.status is Status.ERROR
    assert "'on' or 'off'" in result.text
    assert board.heard == []
