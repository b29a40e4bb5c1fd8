"""What the board tells of its own state: the processor's temperature and the Raspberry Pi firmware's bits.

Knows sysfs, psutil and vcgencmd, and that any of them may be missing, forbidden or talk nonsense. Does not
know what is too hot.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

COMMAND_SECONDS = 2.0  # vcgencmd answers within milliseconds, or hangs with the firmware

# Sensors of the processor, as Linux names them. A disk's or a radio's heat is not ours.
PROCESSOR_SENSORS = (
    "cpu_thermal",
    "cpu-thermal",
    "soc_thermal",
    "coretemp",
    "k10temp",
    "zenpower",
    "cputhermal",
)
PROCESSOR_ZONES = ("cpu", "soc", "x86_pkg")  # words in a thermal zone's type
POSSIBLE = (-40.0, 150.0)  # degrees Celsius; a broken sensor says 0 K, or what lies beyond silicon

# Bits of the Raspberry Pi's get_throttled that hold now (the upper half says what happened since boot).
UNDERVOLTAGE = 0x1
THROTTLED = 0x2 | 0x4 | 0x8  # frequency capped, throttled, soft temperature limit


@dataclass(frozen=True, slots=True)
class Reading:
    """Degrees Celsius of the processor, and the firmware's bits; None where the board does not tell."""

    celsius: float | None = None
    bits: int | None = None

    @property
    def throttled(self) -> bool:
        return bool((self.bits or 0) & THROTTLED)

    @property
    def undervoltage(self) -> bool:
        return bool((self.bits or 0) & UNDERVOLTAGE)


class Sensors:
    """The board's own sensors. `system` is where sysfs lies; `command` the firmware's, if installed."""

    def __init__(self, system: Path = Path("/sys"), command: str | None = None) -> None:
        self._system = system
        self._command = command if command is not None else shutil.which("vcgencmd")

    def read(self) -> Reading:
        """What the board tells now; blocks for some milliseconds."""
        return Reading(self._celsius(), self._bits())

    def _celsius(self) -> float | None:
        found = [value for value in (*_hardware_monitors(), *self._zones()) if _possible(value)]
        return max(found, default=None)

    def _zones(self) -> Iterator[float]:
        for zone in sorted(self._system.glob("class/thermal/thermal_zone*")):
            kind, value = _text(zone / "type"), _text(zone / "temp")
            if any(word in kind.lower() for word in PROCESSOR_ZONES):
                yield _number(value) / 1000

    def _bits(self) -> int | None:
        for path in self._system.glob("devices/platform/soc*/*firmware/get_throttled"):
            if (bits := _hexadecimal(_text(path))) is not None:
                return bits
        if not self._command:
            return None
        bits = _hexadecimal(_output(self._command, "get_throttled").removeprefix("throttled="))
        if bits is None:
            self._command = ""  # not allowed, or no Raspberry Pi: it will not be otherwise next time
        return bits


def _hardware_monitors() -> Iterator[float]:
    if not hasattr(psutil, "sensors_temperatures"):  # psutil has it for Linux and FreeBSD alone
        return
    for name, sensors in psutil.sensors_temperatures().items():
        if name in PROCESSOR_SENSORS:
            yield from (sensor.current for sensor in sensors)


def _possible(celsius: float) -> bool:
    low, high = POSSIBLE
    return low < celsius < high and celsius != 0.0  # exactly 0: a sensor that is off


def _text(path: Path) -> str:
    """Nothing where the file is not there, or its driver says no."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _hexadecimal(text: str) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None
