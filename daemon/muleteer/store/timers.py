"""Timers that outlive the daemon. Knows rows; when they ring is `muleteer.timers`' business."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from muleteer.store.database import Database
from muleteer.timers import MOST_MISSED, Missed, Timer

MIGRATIONS = (
    (
        """CREATE TABLE timers (
            id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL, seconds REAL NOT NULL,
            until REAL NOT NULL, boot TEXT NOT NULL, due REAL NOT NULL, at TEXT, repeat TEXT NOT NULL)""",
        "CREATE TABLE missed (id INTEGER NOT NULL, label TEXT NOT NULL, due TEXT NOT NULL)",
    ),
)
COLUMNS = "label, seconds, until, boot, due, at, repeat"


class TimerStore:
    """Every method raises `StoreError` when the file cannot be used; what was written is on disk."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, MIGRATIONS)

    async def close(self) -> None:
        await self._database.close()

    async def load(self) -> tuple[list[Timer], list[Missed]]:
        """All that are set, and those that were missed, oldest first."""

        def select(connection: sqlite3.Connection) -> tuple[list[Timer], list[Missed]]:
            timers = [_timer(row) for row in connection.execute(f"SELECT id, {COLUMNS} FROM timers")]  # noqa: S608
            rows = connection.execute("SELECT id, label, due FROM missed ORDER BY rowid")
            return timers, [Missed(number, label, datetime.fromisoformat(due)) for number, label, due in rows]

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
                    marks = f"UPDATE timers SET ({COLUMNS}) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?"  # noqa: S608
                    connection.execute(marks, (*_row(timer), number))
            connection.execute("DELETE FROM missed")
            rows = [(each.id, each.label, each.due.isoformat()) for each in kept]
            connection.executemany("INSERT INTO missed (id, label, due) VALUES (?, ?, ?)", rows)

        await self._database.write(update)


def _row(timer: Timer) -> tuple[object, ...]:
    at = timer.at.isoformat() if timer.at else None
    repeat = "".join(str(day) for day in sorted(timer.repeat))
    return timer.label, timer.seconds, timer.until, timer.boot, timer.due, at, repeat


def _timer(row: tuple[int, str, float, float, str, float, str | None, str]) -> Timer:
    """Raises `ValueError` or `TypeError` for a row that nobody of ours has written."""
    number, label, seconds, until, boot, due, at, repeat = row
    days = frozenset(int(day) for day in repeat)
    return Timer(number, label, seconds, until, boot, due, datetime.fromisoformat(at) if at else None, days)
