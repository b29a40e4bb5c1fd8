"""Every part in a sentence with its values; a part that a board lacks is named, not invented."""

from __future__ import annotations

from typing import get_args

import pytest

from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import BoardState, Data, Result, Services, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters, with_services
from tools.device_info import PARTS, Part, device_info, report, unusual


async def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, device_info)
    schema = toolbox.tools["device_info"].parameters["properties"]["part"]
    assert schema["enum"] == list(get_args(Part)) == ["all", *PARTS]


@pytest.mark.parametrize("part", ["memory", "disk", "cpu", "uptime"])
async def test_what_every_linux_has_is_told(toolbox: Toolbox, part: str) -> None:
    result = await call(toolbox, "device_info", part=part)
    assert result.status is Status.OK
    assert result.text.lower().startswith(f"{part}: ")
    assert isinstance(result.payload, Data)
    assert list(result.payload.values) == [part]


async def test_all_names_every_part_or_says_that_it_is_missing(toolbox: Toolbox) -> None:
    result = await call(toolbox, "device_info")
    assert result.status is Status.OK
    for part in PARTS:
        assert f"{part.capitalize()}: " in result.text or part in result.text or part == "cpu"
    assert "CPU: " in result.text


async def test_a_part_that_is_none_is_an_error(toolbox: Toolbox) -> None:
    result = await call(toolbox, "device_info", part="gpu")
    assert result.status is Status.ERROR
    assert "'memory', 'disk'" in result.text


def test_a_board_that_lacks_everything_gives_empty() -> None:
    result = report({"battery": lambda: None, "temperature": lambda: None})
    assert result == Result.empty("This device reports no value for: battery, temperature.")


def test_what_is_not_shown_could_not_be_looked_at() -> None:
    def forbidden() -> None:
        raise PermissionError("/sys is not there")

    result = report({"battery": lambda: None, "temperature": forbidden})
    assert result == Result.unavailable(
        "This device reports no value for: battery. I could not look at: temperature."
    )


def test_a_part_that_fails_does_not_take_the_others() -> None:
    def fails() -> None:
        raise OSError("no such file")

    result = report({"memory": lambda: ("Memory: fine.", {"total": 1}), "disk": fails})
    assert result == Result.ok("Memory: fine. I could not look at: disk.", Data({"memory": {"total": 1}}))


async def test_all_begins_with_a_verdict(toolbox: Toolbox) -> None:
    result = await call(toolbox, "device_info")
    assert isinstance(result.payload, Data)
    found = unusual(result.payload.values)
    assert result.text.startswith(f"Unusual: {', '.join(found)}. " if found else "Nothing is unusual. ")


def test_what_is_unusual_is_decided_by_limits() -> None:
    fine = {
        "memory": {"percent": 90},
        "disk": {"percent": 10},
        "temperature": {"celsius": {"cpu": 80.0, "disk": 40.0}},
        "battery": {"percent": 5, "plugged": True},
    }
    bad = {
        "memory": {"percent": 91},
        "disk": {"percent": 99.5},
        "temperature": {"celsius": {"cpu": 80.5, "disk": 40.0}},
        "battery": {"percent": 5, "plugged": False},
    }
    assert unusual(fine) == unusual({}) == []
    assert unusual(bad) == [
        "memory is nearly full",
        "the disk is nearly full",
        "it is hot",
        "the battery is low",
    ]


class Pi:
    """A board whose firmware has something to say."""

    async def look(self) -> BoardState:
        return BoardState(("the supply voltage is too low",), ("the processor is throttled",))


class Cut:
    """No network tool may run."""

    async def reason(self) -> str:
        return "Offline mode is on"


async def test_throttling_is_told_now_and_since_the_start(notebook: SqliteNotebook) -> None:
    home = with_services(Services(notebook, board=Pi()))
    result = await call(home, "device_info", part="throttling")
    assert result.text == (
        "Throttling: the supply voltage is too low. Some time since the start: the processor is throttled."
    )
    assert "Unusual: " in (text := (await call(home, "device_info")).text)
    assert "the supply voltage is too low" in text.partition(". ")[0]


async def test_throttling_that_a_board_does_not_report_is_empty(toolbox: Toolbox) -> None:
    result = await call(toolbox, "device_info", part="throttling")
    assert result == Result.empty("This device reports no value for: throttling.")


async def test_offline_mode_is_part_of_the_network(notebook: SqliteNotebook) -> None:
    home = with_services(Services(notebook, offline=Cut()))
    result = await call(home, "device_info", part="network")
    assert result.text.endswith("Offline mode is on.")
    assert isinstance(result.payload, Data)
    network = result.payload.values["network"]
    assert isinstance(network, dict)
    assert network["offline"] is True
