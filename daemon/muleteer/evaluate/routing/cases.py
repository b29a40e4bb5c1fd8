"""Batteries of `message<TAB>handle` lines, and lines that crowd a menu. Knows files and the menu, no model.

A battery has two halves, by the messages' own digests: what is chosen by one is reported by the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import get_args

from muleteer.errors import ConfigError
from muleteer.harness.planner import REPLY
from muleteer.skills import MenuLine
from muleteer.tool import Effect

HALVES = ("development", "report")
MOST_BYTES = 4 << 20  # of a battery; at 0.3 s a line that is hours
DATA = "muleteer.evaluate.routing"


@dataclass(frozen=True, slots=True)
class Line:
    """One case: the handle that is right, without "@", or `reply`."""

    number: int
    message: str
    handle: str
    half: str


@dataclass(frozen=True, slots=True)
class BatteryFile:
    """The lines of a file that can be used; `bad` says of each other one what is wrong with it."""

    path: Path
    lines: tuple[Line, ...]
    bad: tuple[str, ...]


def shipped() -> Path:
    """The battery that Muleteer brings."""
    return Path(str(files(DATA).joinpath("data/routing.tsv")))


def half_of(message: str) -> str:
    """By the message's own digest, so that more messages move none."""
    return HALVES[hashlib.sha256(message.casefold().encode()).digest()[0] % 2]


def read_battery(path: Path, known: Collection[str]) -> BatteryFile:
    """The lines of a battery over these handles (and `reply`). Raises `ConfigError` for a file that cannot be
    read or has no good line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"The battery {path} cannot be read: {error.strerror}.") from error
    if len(data) > MOST_BYTES:
        raise ConfigError(f"The battery {path} has {len(data):,} bytes; at most {MOST_BYTES:,} are read.")
    lines: dict[str, Line] = {}
    bad: list[str] = []
    for number, text in enumerate(data.decode(errors="replace").splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        line = _read_line(number, text, known)
        if isinstance(line, str):
            bad.append(f"Line {number}: {line}")
        elif twin := lines.get(line.message):
            bad.append(f"Line {number}: its message stands in line {twin.number} already.")
        else:
            lines[line.message] = line
    if not lines:
        why = f" {bad[0]}" if bad else ""
        raise ConfigError(f"The battery {path} has no line `message<TAB>handle`.{why}")
    return BatteryFile(path, tuple(lines.values()), tuple(bad))


def _read_line(number: int, text: str, known: Collection[str]) -> Line | str:
    """A line, or the sentence that says what is wrong with it."""
    message, tab, rest = text.partition("\t")
    handle = rest.split("\t")[0].strip().removeprefix("@").replace("_", "-")
    if not tab or not message.strip() or not handle:
        return "it is not a message, a tab and a handle."
    if "\N{REPLACEMENT CHARACTER}" in text:
        return "it is not UTF-8."
    if handle != REPLY and handle not in known:
        return f"there is no @{handle} among the skills and tools."
    return Line(number, message.strip(), handle, half_of(message.strip()))


def foreign_lines() -> tuple[MenuLine, ...]:
    """Menu lines as a stranger's package or server brings them, made up to crowd a menu."""
    text = files(DATA).joinpath("data/foreign.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    effects: dict[str, Effect] = {effect: effect for effect in get_args(Effect)}
    return tuple(
        MenuLine(handle, about, (example,), effects[effect]) for handle, effect, about, example in rows
    )
