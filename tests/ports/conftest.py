"""Microcontrollers that are unplugged at the end, and the service over devices at their places."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from muleteer.ports.service import SerialPorts
from muleteer.ports.settings import SerialSettings
from tests.ports.microcontroller import Microcontroller, Script, greenhouse

Plug = Callable[..., Microcontroller]
Serve = Callable[..., SerialPorts]

SENSORS = {
    "greenhouse_temperature": {"request": "T?", "pattern": "T=(.+)", "unit": "°C", "min": -40, "max": 80},
    "greenhouse_humidity": {"request": "H?", "pattern": "H=(.+)", "unit": "%"},
    "back_door": {"request": "D?", "pattern": "D=(.)", "words": {"0": "closed", "1": "open"}},
}
LAMP = {"on": "L1", "off": "L0", "when_on": "L=1", "when_off": "L=0"}


@pytest.fixture
def plug(tmp_path: Path) -> Iterator[Plug]:
    """Plug in a microcontroller with a script, by name."""
    made: list[Microcontroller] = []

    def plug_in(script: Script = greenhouse, name: str = "board") -> Microcontroller:
        made.append(Microcontroller(tmp_path / name, script))
        return made[-1]

    yield plug_in
    for each in made:
        each.unplug()


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """The service over one device `board` with these settings."""
    made: list[SerialPorts] = []

    def open_ports(**settings: Any) -> SerialPorts:
        device = {"path": tmp_path / "board", "settle": 0, "timeout": 1, "sensors": SENSORS} | settings
        made.append(SerialPorts(SerialSettings.model_validate({"devices": {"board": device}}), list))
        return made[-1]

    yield open_ports
    for each in made:
        await each.close()
