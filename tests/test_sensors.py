"""Sensors are read where they are, and say nothing where they are not or talk nonsense."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from muleteer.sensors import Reading, Sensors


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty sysfs, on a machine without hardware monitors."""
    monkeypatch.setattr(psutil, "sensors_temperatures", dict)
    return tmp_path


def zone(system: Path, number: int, kind: str, value: str) -> None:
    folder = system / f"class/thermal/thermal_zone{number}"
    folder.mkdir(parents=True)
    (folder / "type").write_text(kind)
    (folder / "temp").write_text(value)


def firmware(system: Path, text: str) -> None:
    folder = system / "devices/platform/soc/soc:firmware"
    folder.mkdir(parents=True)
    (folder / "get_throttled").write_text(text)


def test_a_raspberry_pi_s_files_are_read(system: Path) -> None:
    zone(system, 0, "cpu-thermal\n", "61234\n")
    zone(system, 1, "nvme\n", "90000\n")
    firmware(system, "50005\n")
    assert Sensors(system, "").read() == Reading(61.234, 0x50005)


@pytest.mark.parametrize("value", ["", "hot", "nan", "-273150", "0", "999999", "\xff"])
def test_a_sensor_that_talks_nonsense_is_none(system: Path, value: str) -> None:
    zone(system, 0, "cpu-thermal", value)
    firmware(system, "no bits")
    assert Sensors(system, "").read() == Reading()


def test_a_machine_without_any_of_it_tells_nothing(system: Path) -> None:
    assert Sensors(system, "").read() == Reading()


@pytest.mark.parametrize(
    ("script", "bits"),
    [
        ("echo throttled=0x50005", 0x50005),
        ("echo throttled=0x0", 0),
        ("echo VCHI initialization failed; exit 255", None),
        ("echo what", None),
    ],
)
def test_the_firmware_s_command_is_asked_where_there_is_no_file(
    system: Path, script: str, bits: int | None
) -> None:
    command = system / "vcgencmd"
    command.write_text(f'#!/bin/sh\necho "$1" >> {system}/asked\n{script}\n')
    command.chmod(0o755)
    sensors = Sensors(system, str(command))
    assert [sensors.read().bits for _ in range(2)] == [bits, bits]
    asked = (system / "asked").read_text().split()
    assert asked == ["get_throttled"] * (1 if bits is None else 2)


def test_the_hottest_sensor_of_the_processor_counts(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sensor(current: float) -> object:
        return type("Sensor", (), {"current": current})()

    found = {"coretemp": [sensor(61.0), sensor(66.0)], "nvme": [sensor(90.0)], "acpitz": [sensor(99.0)]}
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: found)
    assert Sensors(system, "").read() == Reading(66.0)


def test_this_machine_s_sensors_are_read_without_a_fault() -> None:
    celsius = Sensors().read().celsius
    assert celsius is None or -40 < celsius < 150
