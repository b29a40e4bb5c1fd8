"""What a household declares, and the sentence for what it may not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muleteer import config
from muleteer.errors import ConfigError

GOOD = r"""
[serial.devices.greenhouse]
usb = "2341:0043:7583"
baud = 115200
ending = "crlf"
send = true

[serial.devices.greenhouse.sensors.greenhouse_temperature]
request = "T?"
pattern = 'T=(-?\d+\.\d+)'
unit = "°C"
min = -40
max = 80.5

[serial.devices.greenhouse.sensors.door]
pattern = 'D=([01])'
words = { 0 = "closed", 1 = "open" }

[serial.devices.greenhouse.switches.pump]
on = "P1"
off = "P0"
state = "P?"
when_on = "P=1"
when_off = "P=0"
pause = 10

[serial.devices.relay]
path = "/dev/serial/by-id/usb-relay"
"""


def load(tmp_path: Path, text: str) -> config.Settings:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return config.load(file)


def test_everything_that_may_be_said(tmp_path: Path) -> None:
    devices = load(tmp_path, GOOD).serial.devices
    greenhouse = devices["greenhouse"]
    assert list(devices) == ["greenhouse", "relay"]
    assert (greenhouse.usb, greenhouse.baud, greenhouse.send) == ("2341:0043:7583", 115200, True)
    assert greenhouse.sensors["greenhouse_temperature"].max == 80.5
    assert greenhouse.sensors["door"].words == {"0": "closed", "1": "open"}
    assert greenhouse.switches["pump"].pause == 10
    assert devices["relay"].path == Path("/dev/serial/by-id/usb-relay")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('usb = "2341:0043:7583"', 'usb = "arduino"', "devices.greenhouse.usb"),
        ('usb = "2341:0043:7583"', "", "greenhouse needs either usb or path"),
        ("send = true", 'path = "/dev/ttyACM0"', "greenhouse needs either usb or path"),
        ('path = "/dev', 'path = "dev', "must be the path of a file or folder"),
        (r"'T=(-?\d+\.\d+)'", "'T=('", "is no regular expression"),
        (r"'T=(-?\d+\.\d+)'", "'T=.*'", "must have exactly one group"),
        (r"'T=(-?\d+\.\d+)'", "'(T)=(.*)'", "must have exactly one group"),
        ("max = 80.5", "max = -40", "has a min that is not less than its max"),
        ('request = "T?"', r'request = "T\nP1"', "must be one line of printable text"),
        ('when_on = "P=1"\n', "", "needs both when_on and when_off"),
        ('when_on = "P=1"\nwhen_off = "P=0"\n', "", "needs a when_on and a different when_off"),
        ('when_off = "P=0"', 'when_off = "P=1"', "needs a when_on and a different when_off"),
        ('on = "P1"\n', "", "switches.pump.on is missing"),
        ('on = "P1"', 'on = ""', "switches.pump.on"),
        ("sensors.door", "sensors.pump", "two entries that are called pump"),
        ("sensors.door", "sensors.Greenhouse-Temperature", "two entries that are called"),
        ("devices.relay", "devices.'bad name'", "devices"),
        ("baud = 115200", "bauds = 1", "bauds is no key of that table"),
        ("baud = 115200", "baud = 0", "baud must be greater than or equal to 50"),
        ("pause = 10", "pause = -1", "pause must be greater than or equal to 0"),
        ('ending = "crlf"', 'ending = "x"', "devices.greenhouse.ending"),
    ],
)
def test_what_may_not_be_said_is_named(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, GOOD.replace(old, new, 1))
    assert why in str(caught.value)
    assert "config.toml: serial.devices" in str(caught.value)


def test_the_readme_says_what_may_be_said(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    (example,) = re.findall(r"```toml\n(\[serial.*?)```", readme, re.DOTALL)
    greenhouse = load(tmp_path, example).serial.devices["greenhouse"]
    assert [*greenhouse.sensors, *greenhouse.switches] == ["greenhouse_temperature", "back_door", "pump"]


def test_there_is_a_limit_to_devices(tmp_path: Path) -> None:
    many = "".join(f'[serial.devices.d{n}]\nusb = "0000:{n:04}"\n' for n in range(17))
    with pytest.raises(ConfigError, match="has 17 devices; at most 16"):
        load(tmp_path, many)
