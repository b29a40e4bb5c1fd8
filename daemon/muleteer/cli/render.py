"""How things look on a terminal: safe text, a turn's ledger, tables.

Knows the event and status shapes. Does not talk to the daemon.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from muleteer.harness.events import TurnFinished

if TYPE_CHECKING:
    from rich.table import Table

# C0 but tab and line feed, DEL, C1: they move cursors and change titles. The bidirectional overrides show
# text in another order than it is in. Lone surrogates are no characters and cannot be printed.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """`text` without what a terminal would act upon. Works on any cut of a stream."""
    return UNSAFE.sub("", text)


def print_ledger(turn: TurnFinished) -> None:
    """The plan, the calls and the tokens of every level, to standard error (the answer has the other)."""
    rows = [
        (each.name, each.prompt, each.reused, each.decoded, each.generated, f"{each.ms:.0f}")
        for each in turn.levels
    ]
    sums = [
        sum(getattr(each, name) for each in turn.levels)
        for name in ("prompt", "reused", "decoded", "generated")
    ]
    table = _table("level", "prompt", "reused", "decoded", "generated", "ms", numbers=5)
    for row in [*rows, ("turn", *sums, f"{turn.ms:.0f}")]:
        table.add_row(*(safe(str(cell)) for cell in row))
    lines = [f"plan: {', '.join('@' + each.removeprefix('@') for each in turn.handles) or '@reply'}"]
    lines += [f"call: {each.tool} {each.status} {each.ms:.0f} ms" for each in turn.calls]
    _console(to_error=True, lines=lines, table=table)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A plain table on standard output; cells are cut to safe text."""
    table = _table(*columns, numbers=0)
    for row in rows:
        table.add_row(*(safe(str(cell)) for cell in row))
    _console(to_error=False, lines=[], table=table)


def _table(first: str, *others: str, numbers: int) -> Table:
    """A table whose last `numbers` columns are right-aligned."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for index, name in enumerate((first, *others)):
        right = index > len(others) - numbers
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    return table


def _console(*, to_error: bool, lines: Sequence[str], table: Table) -> None:
    from rich.console import Console

    console = Console(file=sys.stderr if to_error else sys.stdout, markup=False, highlight=False, emoji=False)
    for line in lines:
        console.print(safe(line))
    console.print(table)
