"""The household's inbox: what background turns came to, on every device. Knows rows.

An entry belongs to the device that wrote it and has that device's next number, so that two devices find out
by one number for each device what the other one lacks. Each device knows for itself what was read there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muleteer.services import InboxEntry
from muleteer.store.database import Database
from muleteer.store.rows import readable

MIGRATIONS = (
    (
        """CREATE TABLE entries (
            number INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, serial INTEGER NOT NULL,
            skill TEXT NOT NULL, slot TEXT NOT NULL, written REAL NOT NULL, text TEXT NOT NULL,
            done INTEGER NOT NULL, read INTEGER NOT NULL DEFAULT 0, UNIQUE (device, serial))""",
        "CREATE TABLE serials (device TEXT PRIMARY KEY, serial INTEGER NOT NULL) WITHOUT ROWID",
    ),
    ("ALTER TABLE entries ADD COLUMN private INTEGER NOT NULL DEFAULT 0",),
)
COLUMNS = "device, serial, skill, slot, written, text, done"
LONGEST_TEXT = 8000  # characters; several screens, and a frame between devices holds it in any script
# What other devices get of a private entry.
PRIVATE = "The skill is private: what it came to is in the inbox of the device that ran it, and nowhere else."
CUT = " [...]"  # what stands where the rest of a longer text was
MOST_ENTRIES = 2000  # kept; a year of five results a day
MOST_DEVICES = 256  # as many as a household ever had
BATCH, BATCH_TEXT = 50, 40_000  # entries, and characters of all their texts, handed over at once
FARTHEST = 1e11  # seconds since 1970: thousands of years


@dataclass(frozen=True, slots=True)
class Written:
    """An entry as devices hand it to each other: `serial` counts the device's entries, `written` is its wall
    clock, in seconds since 1970."""

    device: str
    serial: int
    skill: str
    slot: str
    written: float
    text: str
    done: bool

    def __post_init__(self) -> None:
        texts = (self.device, self.skill, self.slot)
        if not all(isinstance(each, str) and 0 < len(each) <= 100 for each in texts):
            raise ValueError("its names are missing or too long")
        if not isinstance(self.text, str) or len(self.text) > LONGEST_TEXT + len(CUT):
            raise ValueError("its text is too long")
        if not 0 < self.serial < 2**53 or not 0 <= self.written < FARTHEST:
            raise ValueError("its numbers make no sense")


def clipped(text: str) -> str:
    """As much as an entry holds; what is left out is marked."""
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + CUT


class InboxStore:
    """Every method raises `StoreError` when the file cannot be used; what was written is on disk."""

    def __init__(self, path: Path, device: str) -> None:
        self._database = Database(path, MIGRATIONS)
        self._device = device

    async def close(self) -> None:
        await self._database.close()

    async def write(
        self, skill: str, slot: str, text: str, done: bool, now: datetime, private: bool = False
    ) -> Written:
        """A new entry of this device, whose text is never handed over if it is `private`."""

        def insert(connection: sqlite3.Connection) -> Written:
            serial = _serials(connection).get(self._device, 0) + 1
            entry = Written(self._device, serial, skill, slot, now.timestamp(), clipped(text), done)
            _insert(connection, entry, private)
            _prune(connection)
            return entry

        return await self._database.write(insert)

    async def take(self, entries: Iterable[Written]) -> list[Written]:
        """Keep what other devices wrote; returns what was new."""
        given = list(entries)

        def insert(connection: sqlite3.Connection) -> list[Written]:
            new = [each for each in given if _insert(connection, each)]
            if new:
                _prune(connection)
            return new

        return await self._database.write(insert)

    async def have(self) -> dict[str, int]:
        """The number of the newest entry of each device that was ever here."""
        return await self._database.read(_serials)

    async def lacking(self, have: Mapping[str, int]) -> list[Written]:
        """The first entries, of those that are here, that are beyond what another device has."""

        def select(connection: sqlite3.Connection) -> list[Written]:
            order = f"SELECT {COLUMNS}, private FROM entries ORDER BY serial, number"  # noqa: S608
            rows = (row for row in connection.execute(order) if row[1] > have.get(row[0], 0))
            beyond = (_handed_over(_written(row[:-1]), private=row[-1]) for row in rows)
            found: list[Written] = []
            size = 0
            for entry in beyond:
                size += len(entry.text)
                if found and (len(found) == BATCH or size > BATCH_TEXT):
                    break
                found.append(entry)
            return found

        return await self._database.read(select)

    async def entries(self, limit: int = 50, unread: bool = False) -> list[InboxEntry]:
        """The newest first."""

        def select(connection: sqlite3.Connection) -> list[InboxEntry]:
            only = "WHERE read = 0" if unread else ""
            order = f"SELECT number FROM entries {only} ORDER BY written DESC, number DESC"  # noqa: S608
            one = f"SELECT {COLUMNS}, read FROM entries WHERE number = ?"  # noqa: S608
            numbers = (row[0] for row in connection.execute(order).fetchall())
            return readable(
                numbers, lambda number: _entry(connection.execute(one, (number,)).fetchone()), limit, "entry"
            )

        return await self._database.read(select)

    async def read(self, ids: Sequence[str]) -> int:
        """Mark entries as read; returns how many were not."""

        def update(connection: sqlite3.Connection) -> int:
            marked = 0
            for each in ids:
                device, _, serial = each.rpartition("-")
                if serial.isascii() and serial.isdecimal() and len(serial) < 16:
                    marked += connection.execute(
                        "UPDATE entries SET read = 1 WHERE device = ? AND serial = ? AND read = 0",
                        (device, int(serial)),
                    ).rowcount
            return marked

        return await self._database.write(update)


def _serials(connection: sqlite3.Connection) -> dict[str, int]:
    return {row[0]: int(row[1]) for row in connection.execute("SELECT device, serial FROM serials")}


def _insert(connection: sqlite3.Connection, entry: Written, private: bool = False) -> bool:
    """Whether it was new: a device's entries come in the order of their numbers, so an older one was here."""
    known = _serials(connection)
    if entry.serial <= known.get(entry.device, 0):
        return False
    if entry.device not in known and len(known) >= MOST_DEVICES:
        return False
    statement = f"INSERT INTO entries ({COLUMNS}, private) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
    texts = (entry.skill, entry.slot, entry.written, entry.text, int(entry.done), int(private))
    connection.execute(statement, (entry.device, entry.serial, *texts))
    connection.execute("REPLACE INTO serials VALUES (?, ?)", (entry.device, entry.serial))
    return True


def _prune(connection: sqlite3.Connection) -> None:
    oldest = "SELECT number FROM entries ORDER BY written DESC, number DESC LIMIT -1 OFFSET ?"
    connection.execute(f"DELETE FROM entries WHERE number IN ({oldest})", (MOST_ENTRIES,))  # noqa: S608


def _written(row: tuple[Any, ...]) -> Written:
    device, serial, skill, slot, written, text, done = row
    return Written(device, int(serial), skill, slot, float(written), text, bool(done))


def _handed_over(entry: Written, private: bool) -> Written:
    return replace(entry, text=PRIVATE) if private else entry


def _entry(row: tuple[Any, ...]) -> InboxEntry:
    each = _written(row[:-1])
    when = datetime.fromtimestamp(each.written, UTC).astimezone()
    return InboxEntry(
        f"{each.device}-{each.serial}",
        each.device,
        each.skill,
        each.slot,
        when,
        each.text,
        each.done,
        bool(row[-1]),
    )
