"""Where a device is plugged in, and the sentence when it cannot be used."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from serial.tools.list_ports_common import ListPortInfo

from muleteer.ports.finding import connect, described, listed, locate, usb_id
from muleteer.ports.settings import DeviceSettings
from muleteer.services import Port
from tests.ports.conftest import Plug


def port(
    path: str, vid: int | None = 0x2341, pid: int | None = 0x43, serial: str | None = None
) -> ListPortInfo:
    made = ListPortInfo(path)
    made.vid, made.pid, made.serial_number, made.product = vid, pid, serial, "Uno"
    return made


def device(**settings: Any) -> DeviceSettings:
    return DeviceSettings.model_validate(settings)


def why(settings: DeviceSettings, *ports: ListPortInfo) -> str:
    with pytest.raises(OSError, match=r"^(is|may|cannot) ") as caught:
        connect(settings, lambda: ports)
    return str(caught.value)


def test_a_usb_id_is_written_as_in_the_settings() -> None:
    assert usb_id(port("/dev/x")) == "2341:0043"
    assert usb_id(port("/dev/x", serial="A1")) == "2341:0043:A1"
    assert usb_id(port("/dev/x", None, None)) == ""


def test_by_usb_id_with_or_without_the_serial_number() -> None:
    ports = [port("/dev/a", serial="A1"), port("/dev/b", 0x1A86, 0x7523), port("/dev/c", None, None)]
    assert locate(device(usb="2341:0043"), lambda: ports) == "/dev/a"
    assert locate(device(usb="2341:0043:a1"), lambda: ports) == "/dev/a"
    assert locate(device(usb="1A86:7523"), lambda: ports) == "/dev/b"


def test_a_usb_device_that_is_away_or_not_the_only_one() -> None:
    assert why(device(usb="2341:0043")) == "is not plugged in (no USB device 2341:0043)"
    both = [port("/dev/a", serial="A1"), port("/dev/b", serial="B2")]
    assert "set usb = 2341:0043:A1 or 2341:0043:B2" in why(device(usb="2341:0043"), *both)
    assert "no USB device" in why(device(usb="2341:0043:A"), *both)


def test_a_usb_device_is_opened_where_it_is(plug: Plug) -> None:
    board = plug()
    opened = connect(device(usb="2341:0043"), lambda: [port(os.path.realpath(board.path))])
    assert opened.is_open
    opened.close()


def test_a_path_that_is_no_port(tmp_path: Path) -> None:
    assert why(device(path=tmp_path / "away")) == f"is not plugged in (no {tmp_path / 'away'})"
    (tmp_path / "file").write_text("")
    assert "cannot be opened as a serial port" in why(device(path=tmp_path / "file"))
    assert "cannot be opened as a serial port" in why(device(path=tmp_path))


def test_a_port_that_another_program_has(plug: Plug) -> None:
    board = plug()
    other = os.open(board.path, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert "is in use by another program; close that one" in why(device(path=board.path))
    os.close(other)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_port_that_is_forbidden_names_the_group(plug: Plug) -> None:
    board = plug()
    board.path.chmod(0)
    assert "add it to the group dialout" in why(device(path=board.path))


def test_ports_are_listed_with_the_devices_that_are_there(plug: Plug) -> None:
    board = plug()
    settings = {"lamp": device(usb="2341:0043"), "hall": device(path=board.path), "gone": device(path="/no")}
    found = described(settings, lambda: [port("/dev/ttyACM9", serial="A1")])
    assert found == [
        Port(os.path.realpath(board.path), "", "", ("hall",)),
        Port("/dev/ttyACM9", "Uno", "2341:0043:A1", ("lamp",)),
    ]


def test_a_list_that_changes_while_it_is_read_could_not_be_looked_at() -> None:
    def changing() -> Iterable[ListPortInfo]:
        raise TypeError("int() argument must be a string")

    with pytest.raises(OSError, match="try again"):
        listed(changing)
