"""What a line of a device means: a value with its unit, or a switch that is on or off.

Pure, and never generous: what does not match as a whole, is no number, or cannot be, is no reading. Patterns
run under a time limit, since a device chooses the text that they are run on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Literal

import regex

from muleteer.ports.lines import shown
from muleteer.ports.settings import SensorSettings, SwitchSettings
from muleteer.services import Reading

PATTERN_SECONDS = 0.1  # for one line; a sane pattern takes microseconds for the 256 bytes there can be

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

State = Literal["on", "off"]


class UnclearError(Exception):
    """The device answered, and what it said is no answer. The sentence goes on after its name."""


def match(pattern: str, line: str) -> regex.Match[str] | None:
    """The match of the whole line. Raises `UnclearError` when the pattern takes too long to tell."""
    try:
        return regex.compile(pattern).fullmatch(line, timeout=PATTERN_SECONDS)
    except TimeoutError as error:
        raise UnclearError(f"has a pattern that takes too long on {shown(line)}; make it simpler") from error


def measured(name: str, settings: SensorSettings) -> Callable[[str], Reading | None]:
    """The reading that a line is, or None for a line that is about something else. Raises `UnclearError` for
    a value that cannot be."""

    def read(line: str) -> Reading | None:
        found = match(settings.pattern, line)
        if found is None or found[1] is None:
            return None
        if settings.words:
            if (word := settings.words.get(found[1].strip())) is None:
                raise UnclearError(f"answered {shown(line)}, which means none of {_either(settings)}")
            return Reading(name, word, word)
        value = _number(found[1])
        if value is None:
            raise UnclearError(f"answered {shown(line)}, which holds no number")
        if settings.min is not None and value < settings.min:
            raise UnclearError(
                f"answered {shown(line)}, but less than {_said(settings.min, settings)} cannot be"
            )
        if settings.max is not None and value > settings.max:
            raise UnclearError(
                f"answered {shown(line)}, but more than {_said(settings.max, settings)} cannot be"
            )
        return Reading(name, _said(value, settings), value, settings.unit)

    return read


def told(settings: SwitchSettings) -> Callable[[str], State | None]:
    """The state that a line tells, or None for a line that tells none."""

    def read(line: str) -> State | None:
        if match(settings.when_on, line):
            return "on"
        return "off" if match(settings.when_off, line) else None

    return read


def confirmed(settings: SwitchSettings, wanted: State) -> Callable[[str], State | None]:
    """The wanted state, if a line tells it; a line that tells the other one may be from before."""
    pattern = settings.when_on if wanted == "on" else settings.when_off

    def read(line: str) -> State | None:
        return wanted if match(pattern, line) else None

    return read


def _number(text: str) -> float | None:
    """A finite number, with a point or a comma for its fraction; Python's own reading takes 1_0 for ten."""
    plain = text.strip().replace(",", ".")
    value = float(plain) if NUMBER.fullmatch(plain) else math.inf
    return value if math.isfinite(value) else None


def _said(value: float, settings: SensorSettings) -> str:
    return f"{value:.12g} {settings.unit}".strip()


def _either(settings: SensorSettings) -> str:
    return ", ".join(settings.words)
