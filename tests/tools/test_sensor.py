"""A reading is said with its unit, or it is said why there is none; a number is never made up."""

from __future__ import annotations

import pytest

from muleteer.catalogue.offering import OTHER
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Data, Result, Services, Status
from muleteer.toolbox import Toolbox
from tests.ports.conftest import LAMP, SENSORS, Plug, Serve
from tests.ports.microcontroller import greenhouse
from tests.tools.conftest import call, same_parameters, with_services
from tools.sensor import sensor

THERE = "greenhouse temperature, greenhouse humidity, back door"


@pytest.fixture
def home(notebook: SqliteNotebook, serve: Serve) -> Toolbox:
    return with_services(Services(notebook, serial=serve(timeout=0.3)))


async def test_the_schema_is_the_signature_with_the_names_that_there_are(home: Toolbox) -> None:
    assert same_parameters(home, sensor)
    schema = home.tools["sensor"].parameters["properties"]["name"]
    assert schema["enum"] == [*SENSORS, OTHER]
    assert home.tools["sensor"].effect == "read"


async def test_ok_is_the_value_with_its_unit(plug: Plug, home: Toolbox) -> None:
    plug()
    result = await call(home, "sensor", name="greenhouse_temperature")
    data = Data({"greenhouse_temperature": {"value": 21.5, "unit": "°C"}})
    assert result == Result.ok("The greenhouse temperature is 21.5 °C.", data, ("greenhouse_temperature",))


async def test_a_near_name_is_enough(plug: Plug, home: Toolbox) -> None:
    plug()
    assert (await call(home, "sensor", name="the back dor")).text == "The back door is open."


async def test_without_a_name_all_are_told(plug: Plug, home: Toolbox) -> None:
    plug(lambda line: (b"H=?\n",) if line == "H?" else greenhouse(line))
    result = await call(home, "sensor")
    assert result.status is Status.OK
    assert result.text == (
        "Greenhouse temperature: 21.5 °C. Back door: open. I could not read the greenhouse humidity: "
        'the device board answered "H=?", which holds no number.'
    )


async def test_a_switch_tells_its_state(plug: Plug, notebook: SqliteNotebook, serve: Serve) -> None:
    plug()
    ports = serve(switches={"lamp": LAMP | {"state": "L0"}})
    result = await call(with_services(Services(notebook, serial=ports)), "sensor", name="lamp")
    assert result.text == "The lamp is off."


@pytest.mark.parametrize("name", ["attic", OTHER])
async def test_empty_lists_what_there_is(home: Toolbox, name: str) -> None:
    result = await call(home, "sensor", name=name)
    assert result == Result.empty(f"There is no such sensor. There are: {THERE}.")


async def test_unavailable_without_a_device(home: Toolbox) -> None:
    result = await call(home, "sensor", name="back_door")
    assert result.status is Status.UNAVAILABLE
    assert result.text.startswith("I could not read the back door: the device board is not plugged in (no ")


async def test_unavailable_with_a_silent_device(plug: Plug, home: Toolbox) -> None:
    plug(lambda _: ())
    result = await call(home, "sensor")
    assert result.status is Status.UNAVAILABLE
    assert "the device board did not answer within 0.3 s" in result.text


async def test_unavailable_without_settings(toolbox: Toolbox, notebook: SqliteNotebook, serve: Serve) -> None:
    none = with_services(Services(notebook, serial=serve(sensors={})))
    result = await call(none, "sensor", name="light")
    assert result.status is Status.UNAVAILABLE
    assert "[serial.devices]" in result.text
    assert (await call(toolbox, "sensor")).status is Status.UNAVAILABLE


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (b"T=85\n", '"T=85"'),
        (b"\x07\xff\n", '"\ufffd\ufffd"'),
        (b"T=21.", '"T=21."'),
        (b"T=nan\n", '"T=nan"'),
    ],
)
async def test_error_shows_what_was_received(plug: Plug, home: Toolbox, answer: bytes, shown: str) -> None:
    plug(lambda _: (answer,))
    result = await call(home, "sensor", name="greenhouse_temperature")
    assert result.status is Status.ERROR
    assert shown in result.text
    assert result.payload is None
