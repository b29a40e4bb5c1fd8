"""The ports with what the settings want to know of them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from serial.tools.list_ports_common import ListPortInfo

from muleteer.ports.finding import Listing
from muleteer.ports.service import SerialPorts
from muleteer.ports.settings import SerialSettings
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Result, Services, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters, with_services
from tools.list_serial_ports import list_serial_ports

SETTINGS = SerialSettings.model_validate({"devices": {"greenhouse": {"usb": "2341:0043"}}})


def uno() -> Iterable[ListPortInfo]:
    port = ListPortInfo("/dev/ttyACM0")
    port.vid, port.pid, port.serial_number, port.product = 0x2341, 0x43, "7583", "Arduino Uno"
    return [port, ListPortInfo("/dev/ttyAMA0")]


def home(notebook: SqliteNotebook, listing: Listing) -> Toolbox:
    return with_services(Services(notebook, serial=SerialPorts(SETTINGS, listing)))


def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, list_serial_ports)
    tool = toolbox.tools["list_serial_ports"]
    assert (tool.effect, tool.menu, tool.hidden) == ("read", False, True)


async def test_ok_names_each_port(notebook: SqliteNotebook) -> None:
    result = await call(home(notebook, uno), "list_serial_ports")
    assert result.status is Status.OK
    assert result.text == (
        '2 serial ports: /dev/ttyACM0 (Arduino Uno, usb = "2341:0043:7583", set up as greenhouse); '
        "/dev/ttyAMA0."
    )


async def test_empty_without_any(notebook: SqliteNotebook) -> None:
    result = await call(home(notebook, list), "list_serial_ports")
    assert result == Result.empty("There is no serial port; plug the device in and try again.")


async def test_unavailable_when_they_cannot_be_listed(toolbox: Toolbox, notebook: SqliteNotebook) -> None:
    def forbidden() -> Iterable[ListPortInfo]:
        raise PermissionError("/sys is not there")

    result = await call(home(notebook, forbidden), "list_serial_ports")
    assert (result.status, result.text) == (Status.UNAVAILABLE, "/sys is not there.")
    assert (await call(toolbox, "list_serial_ports")).status is Status.UNAVAILABLE


@pytest.mark.parametrize("given", [{"port": "x"}])
async def test_error_for_a_parameter_that_it_has_not(toolbox: Toolbox, given: dict[str, object]) -> None:
    assert (await call(toolbox, "list_serial_ports", **given)).status is Status.ERROR
