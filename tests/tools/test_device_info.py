"""Every part in a sentence with its values; a part that a board lacks is named, not invented."""

from __future__ import annotations

from typing import get_args

import pytest

from muleteer.tool import Data, Result, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters
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
        assert f"{part.capitalize()}: " in result.text or f"no {part}" in result.text or part == "cpu"
    assert "CPU: " in result.text


async def test_a_part_that_is_none_is_an_error(toolbox: Toolbox) -> None:
    result = await call(toolbox, "device_info", part="gpu")
    assert result.status is Status.ERROR
    assert "'memory', 'disk'" in result.text


def test_a_board_that_lacks_everything_gives_empty() -> None:
    def forbidden() -> None:
        raise PermissionError("/sys is not there")

    result = report({"battery": lambda: None, "temperature": forbidden})
    assert result == Result.empty("This device reports no battery and no temperature.")


def test_a_part_that_fails_does_not_take_the_others() -> None:
    def fails() -> None:
        raise OSError("no such file")

    result = report({"memory": lambda: ("Memory: fine.", {"total": 1}), "disk": fails})
    assert result == Result.ok("Memory: fine. This device reports no disk.", Data({"memory": {"total": 1}}))


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
