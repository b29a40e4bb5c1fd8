"""Timers that outlive the daemon. Knows rows; when they ring is `muleteer.timers`' business."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from muleteer.store.database import Database
from muleteer.store.rows import readable
from muleteer.timers import MOST_MISSED, Missed, Timer

T = TypeVar("T")

MIGRATIONS = (
    (
        """CREATE TABLE timers (
            id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL, seconds REAL NOT NULL,
            until REAL NOT NULL, boot TEXT NOT NULL, due REAL NOT NULL, at TEXT, repeat TEXT NOT NULL)""",
        "CREATE TABLE missed (id INTEGER NOT NULL, label TEXT NOT NULL, due TEXT NOT NULL)",
    ),
    ("ALTER TABLE missed ADD COLUMN once INTEGER NOT NULL DEFAULT 0",),
)
COLUMNS = "label, seconds, until, boot, due, at, repeat"
FARTHEST = 1e11  # seconds since 1970 or a boot: thousands of years; beyond, the calendar has no dates


class Kept(NamedTuple):
    """The timers that are set, those that were missed, oldest first, and how many are set in rows that are
    damaged."""

    timers: list[Timer]
    missed: list[Missed]
    unreadable: int = 0


class TimerStore:
    """Every method raises `StoreError` when the file cannot be used; what was written is on disk."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, MIGRATIONS)

    async def close(self) -> None:
        await self._database.close()

    async def load(self) -> Kept:
        """All that there is; a damaged row is logged and silences no other."""

        def select(connection: sqlite3.Connection) -> Kept:
            def each(read: Callable[[tuple[Any, ...]], T], rows: str, columns: str, what: str) -> list[T]:
                one = f"SELECT {columns} FROM {rows} WHERE rowid = ?"  # noqa: S608
                return readable(
                    numbers[rows],
                    lambda number: read(connection.execute(one, (number,)).fetchone()),
                    len(numbers[rows]),
                    what,
                    strict=False,
                )

            numbers = {
                rows: [row[0] for row in connection.execute(f"SELECT rowid FROM {rows} ORDER BY rowid")]  # noqa: S608
                for rows in ("timers", "missed")
            }
            timers = each(_timer, "timers", f"id, {COLUMNS}", "timer")
            missed = each(_missed, "missed", "id, label, due, once", "missed timer")
            return Kept(timers, missed, len(numbers["timers"]) - len(timers))

        return await self._database.read(select)

    async def add(self, timer: Timer) -> Timer:
        """The timer with its number, which no other ever has."""

        def insert(connection: sqlite3.Connection) -> int:
            statement = f"INSERT INTO timers ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
            return connection.execute(statement, _row(timer)).lastrowid or 0

        return replace(timer, id=await self._database.write(insert))

    async def save(self, changed: Mapping[int, Timer | None], missed: Iterable[Missed]) -> None:
        """Timers as they are now (None: gone), by number, and all that were missed."""
        kept = list(missed)[-MOST_MISSED:]

        def update(connection: sqlite3.Connection) -> None:
            for number, timer in changed.items():
                if timer is None:
                    connection.execute("DELETE FROM timers WHERE id = ?", (number,))
                else:
                    marks = f"REPLACE INTO timers (id, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
                    connection.execute(marks, (number, *_row(timer)))
            connection.execute("DELETE FROM missed")
            rows = [(each.id, each.label, each.due.isoformat(), each.once) for each in kept]
            connection.executemany("INSERT INTO missed (id, label, due, once) VALUES (?, ?, ?, ?)", rows)

        await self._database.write(update)


def _row(timer: Timer) -> tuple[object, ...]:
    at = timer.at.isoformat() if timer.at else None
    repeat = "".join(str(day) for day in sorted(timer.repeat))
    return timer.label, timer.seconds, timer.until, timer.boot, timer.due, at, repeat


def _timer(row: tuple[Any, ...]) -> Timer:
    """Raises what `MISREAD` names for a row that nobody of ours has written: such a timer could never be
    rung, or would stop the others."""
    number, label, seconds, until, boot, due, at, repeat = row
    days = frozenset(int(day) for day in repeat)
    if not days <= frozenset(range(7)) or not all(0 <= value < FARTHEST for value in (seconds, until, due)):
        raise ValueError("its numbers make no sense")
    return Timer(
        number, _text(label), seconds, until, _text(boot), due, None if at is None else _time(at), days
    )


def _missed(row: tuple[Any, ...]) -> Missed:
    number, label, due, once = row
    return Missed(int(number), _text(label), _time(due), bool(once))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("it holds bytes where a text belongs")
    return value


def _time(value: str) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is not None or not -FARTHEST < moment.timestamp() < FARTHEST:
        raise ValueError(f"{value} is no local time")
    return moment
