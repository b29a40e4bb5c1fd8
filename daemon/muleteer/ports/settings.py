"""The section `[serial]` of the settings: devices by name, and the lines that they understand.

Knows keys and limits. A device is asked with a line of text and answers with a line of text; a pattern says
which answer is meant and where the value stands in it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path
from typing import Annotated

import regex
from pydantic import AfterValidator, Field, Strict, StringConstraints, model_validator

from muleteer.settings.sections import Count, Place, Seconds, Section, Words

LONGEST_LINE = 200  # characters of one request; a microcontroller's own buffer is often 64 bytes
MOST_DEVICES = 16  # more ports than a board with a hub has
MOST_ENTRIES = 16  # sensors, or switches, of one device: more than a microcontroller has pins to spare
USB = r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}(:.{1,64})?"
ENDINGS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r", "none": b""}


def _pattern(value: str) -> str:
    try:
        regex.compile(value)
    except regex.error as error:
        raise ValueError(f"is no regular expression ({error})") from error
    return value


def _with_group(value: str) -> str:
    if regex.compile(_pattern(value)).groups != 1:
        raise ValueError("must have exactly one group in parentheses: the value, as in T=(-?[0-9.]+)")
    return value


Name = Annotated[str, StringConstraints(pattern=r"^\w[\w-]{0,39}$")]
Request = Annotated[Words, Field(max_length=LONGEST_LINE)]
Pattern = Annotated[str, Strict(), Field(max_length=LONGEST_LINE), AfterValidator(_pattern)]
ValuePattern = Annotated[Pattern, AfterValidator(_with_group)]


class SensorSettings(Section):
    """Something that a device measures."""

    request: Request = Field("", description="line that asks for it; empty: the device tells by itself")
    pattern: ValuePattern = Field(
        description="regular expression of the whole answer; the value is its group"
    )
    unit: Words = Field("", max_length=16, description="unit of the value, as it is said: °C, %, lx")
    min: float | None = Field(None, description="least value that is possible; below it the reading is wrong")
    max: float | None = Field(None, description="largest value that is possible")
    words: dict[str, Words] = Field(
        {}, max_length=16, description="what values that are no numbers mean: { 0 = 'closed', 1 = 'open' }"
    )

    @model_validator(mode="after")
    def _possible(self) -> SensorSettings:
        if self.min is not None and self.max is not None and self.min >= self.max:
            raise ValueError("has a min that is not less than its max")
        return self


class SwitchSettings(Section):
    """Something that a device turns on and off."""

    on: Annotated[Request, Field(min_length=1)] = Field(description="line that turns it on")
    off: Annotated[Request, Field(min_length=1)] = Field(description="line that turns it off")
    state: Request = Field("", description="line that asks whether it is on")
    when_on: Pattern = Field("", description="regular expression of the whole answer that says: it is on")
    when_off: Pattern = Field("", description="regular expression of the whole answer that says: it is off")
    pause: Seconds = Field(
        0.0, ge=0, le=86_400, description="least seconds between two switchings, for what must rest"
    )

    @model_validator(mode="after")
    def _tells(self) -> SwitchSettings:
        if bool(self.when_on) != bool(self.when_off):
            raise ValueError("needs both when_on and when_off, or neither")
        if self.state and (not self.when_on or self.when_on == self.when_off):
            raise ValueError("asks for its state, so it needs a when_on and a different when_off")
        return self


class DeviceSettings(Section):
    """One device at a serial port, named by its USB id or by a path."""

    usb: Annotated[str, Strict(), StringConstraints(pattern=f"^({USB})?$")] = Field(
        "", description="vendor:product, or vendor:product:serial; `muleteer tools call list_serial_ports`"
    )
    path: Place | None = Field(None, description="path of the port, best one from /dev/serial/by-id")
    baud: Count = Field(9600, ge=50, le=4_000_000, description="bits per second, as the device has it")
    ending: Annotated[str, Strict(), StringConstraints(pattern="^(lf|crlf|cr|none)$")] = Field(
        "lf", description="what ends a line that is sent: lf, crlf, cr or none"
    )
    timeout: Seconds = Field(
        2.0, ge=0.05, le=10, description="seconds an answer may take; a slow sensor takes one"
    )
    settle: Seconds = Field(
        2.0, ge=0, le=10, description="seconds to wait after opening, since many boards restart then"
    )
    send: bool = Field(False, description="whether any text may be sent to it (serial_send)")
    sensors: dict[Name, SensorSettings] = Field({}, max_length=MOST_ENTRIES, description="what it measures")
    switches: dict[Name, SwitchSettings] = Field({}, max_length=MOST_ENTRIES, description="what it switches")

    @model_validator(mode="after")
    def _located(self) -> DeviceSettings:
        if bool(self.usb) == bool(self.path):
            raise ValueError("needs either usb or path")
        return self

    @property
    def where(self) -> str | Path:
        return self.path or self.usb


def _distinct(devices: dict[str, DeviceSettings]) -> dict[str, DeviceSettings]:
    if len(devices) > MOST_DEVICES:
        raise ValueError(f"has {len(devices)} devices; at most {MOST_DEVICES} may be used")
    entries = [name for each in devices.values() for name in (*each.sensors, *each.switches)]
    for names in (entries, list(devices)):
        counted = Counter(folded(name) for name in names)
        if twice := next((name for name in names if counted[folded(name)] > 1), ""):
            raise ValueError(f"has two entries that are called {twice}; give each a name of its own")
    return devices


class SerialSettings(Section):
    """The devices at serial ports."""

    devices: Annotated[dict[Name, DeviceSettings], AfterValidator(_distinct)] = Field(
        {}, description="devices at serial ports, by name; see the README"
    )


def folded(name: str) -> str:
    """A name as people mean it: without case, accents and the marks between words."""
    plain = unicodedata.normalize("NFKD", name.casefold().replace("_", " ").replace("-", " "))
    return " ".join("".join(each for each in plain if not unicodedata.combining(each)).split())
