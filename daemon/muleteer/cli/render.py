"""How things look on a terminal: safe text, a turn's ledger, tables.

Knows the event and status shapes. Does not talk to the daemon.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from muleteer.errors import MuleteerError
from muleteer.harness.events import LevelUse, TurnFinished

if TYPE_CHECKING:
    from rich.table import Table

QUESTION = "confirm"  # the code of what ends a turn without being an error

UNFOLDED = 10_000  # characters; a table that a program reads has each row on one line, however long

# C0 but tab and line feed, DEL, C1: they move cursors and change titles. The bidirectional overrides show
# text in another order than it is in. Lone surrogates are no characters and cannot be printed. Tags and what
# has no width hide text in text; joiners stay, which emoji and many scripts are written with.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    """`text` without what a terminal would act upon. Works on any cut of a stream."""
    return UNSAFE.sub("", text)


def complaint(error: MuleteerError) -> str:
    """What ended a command, for standard error. A question is none of the errors."""
    return safe(str(error)) if error.code == QUESTION else f"Error: {safe(str(error))}"


class Activity:
    """One line on a terminal that says what is being waited for; gone before anything else is printed. On
    standard error; where that is no terminal, only a long wait is said, once."""

    def __init__(self) -> None:
        self._live, self._shown, self._said = sys.stderr.isatty(), False, False

    def show(self, text: str) -> None:
        if self._live:
            self._write(f"\r\x1b[K{safe(text)} ...")
            self._shown = True

    def wait(self, text: str) -> None:
        """`show`, for what may take minutes."""
        self.show(text)
        if not self._live and not self._said:
            self._write(f"{safe(text)} ...\n")
            self._said = True

    @contextmanager
    def during(self, text: str) -> Iterator[None]:
        """`wait` while a block runs, with its seconds on a terminal."""
        over, began = threading.Event(), time.monotonic()

        def tick() -> None:
            while not over.wait(1.0):
                self.show(f"{text} ({time.monotonic() - began:.0f} s)")

        self.wait(text)
        ticking = threading.Thread(target=tick, name="activity", daemon=True)
        ticking.start()
        try:
            yield
        finally:
            over.set()
            ticking.join()
            self.clear()

    def clear(self) -> None:
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def doing(event: str, data: Mapping[str, object]) -> str:
    """What a turn does after this event, in words; empty when there is nothing new to say."""
    handles = data.get("handles")
    names = ", ".join(map(str, handles)) if isinstance(handles, list) else ""
    words = {
        "turn.started": "planning",
        "brain": f"asking {data.get('brain')}" if data.get("brain") != "local" else "",
        "plan": f"preparing {names}" if names else "answering",
        "call.started": f"calling {data.get('tool')}",
        "call.finished": "answering",
    }
    return words.get(event, "")


def print_ledger(turn: TurnFinished) -> None:
    """The plan, the calls and the tokens of every level, to standard error (the answer has the other)."""
    plan = ", ".join("@" + each.removeprefix("@") for each in turn.handles) or "@reply"
    brains = [f"brain: {each.brain}{f' ({each.reason})' if each.reason else ''}" for each in turn.brains]
    calls = [f"call: {each.tool} {each.status} {each.ms:.0f} ms" for each in turn.calls]
    lines = [*brains, f"plan: {plan}", *calls]
    for line in lines:
        click.echo(safe(line), err=True)
    print_levels(turn.levels)
    click.echo(f"first word after {turn.first_ms:.0f} ms, all after {turn.ms:.0f} ms", err=True)


def print_levels(levels: Sequence[LevelUse]) -> None:
    """Tokens and milliseconds of every level and their sums, to standard error."""
    counts = [(each.prompt, each.reused, each.decoded, each.generated, each.ms) for each in levels]
    sums = [sum(column) for column in zip(*counts, strict=True)]
    rows = [*zip((each.name for each in levels), counts, strict=True), ("all", sums)]
    table = _table(("level", "prompt", "reused", "decoded", "generated", "ms"), numbers=5)
    for name, numbers in rows if levels else []:
        table.add_row(safe(name), *(f"{number:.0f}" for number in numbers))
    _print(table, sys.stderr)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A plain table on standard output; cells are cut to safe text."""
    table = _table(columns, numbers=0)
    for row in rows:
        table.add_row(*(safe(cell) for cell in row))
    _print(table, sys.stdout)


def print_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """A name and its value on each line."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        click.echo(safe(f"{name:<{width}}  {value}"))


def _table(columns: Sequence[str], numbers: int) -> Table:
    """A table whose last `numbers` columns are right-aligned."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for index, name in enumerate(columns):
        right = index >= len(columns) - numbers
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    return table


def _print(table: Table, stream: TextIO) -> None:
    from rich.console import Console

    width = None if stream.isatty() else UNFOLDED
    Console(file=stream, width=width, markup=False, highlight=False, emoji=False).print(table)
