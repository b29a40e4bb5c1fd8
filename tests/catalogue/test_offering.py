"""What the model is offered for a parameter that takes a service's names; a call may still say others."""

from __future__ import annotations

from typing import Annotated

import pytest

from muleteer.catalogue.offering import MOST_NAMES, OTHER
from muleteer.engine import vetting
from muleteer.ports.service import SerialPorts
from muleteer.ports.settings import SerialSettings
from muleteer.services import Absent, Notebook
from muleteer.tool import Named, Result, Services, tool
from muleteer.toolbox import Toolbox


@tool(effect="read")
def look(name: Annotated[str, Named("serial", "devices")], room: str = "") -> Result:
    """Look. Use it to look.

    name: at what
    room: where
    """
    return Result.ok(f"{name} {room}")


def offered(devices: int, notebook: Notebook) -> dict[str, object]:
    settings = {"devices": {f"d{n}": {"usb": f"0000:{n:04}"} for n in range(devices)}}
    services = Services(notebook, serial=SerialPorts(SerialSettings.model_validate(settings), list))
    parameters = Toolbox.of([look], services).tools["look"].parameters
    vetting.vet(parameters)
    found: dict[str, object] = parameters["properties"]
    return found


@pytest.fixture
def notebook() -> Notebook:
    return Absent("none")


def test_the_names_there_are_and_a_way_out(notebook: Notebook) -> None:
    assert offered(2, notebook) == {
        "name": {"type": "string", "description": "at what", "enum": ["d0", "d1", OTHER]},
        "room": {"type": "string", "description": "where"},
    }


def test_without_names_anything_may_be_written(notebook: Notebook) -> None:
    assert "enum" not in str(offered(0, notebook))
    assert "enum" not in str(Toolbox.of([look], Services(notebook)).tools["look"].parameters)


def test_too_many_names_are_not_offered(notebook: Notebook) -> None:
    class Many(SerialPorts):
        def names(self, kind: str) -> tuple[str, ...]:
            return tuple(str(n) for n in range(MOST_NAMES + 1))

    services = Services(notebook, serial=Many(SerialSettings(), list))
    assert "enum" not in str(Toolbox.of([look], services).tools["look"].parameters)


async def test_a_call_may_say_another_name(notebook: Notebook) -> None:
    toolbox = Toolbox.of([look], Services(notebook))
    assert (await toolbox.call("look", {"name": "D 7"})).result.text == "D 7 "
