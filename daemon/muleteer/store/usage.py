"""How often each static prompt was needed, so that the likeliest is made ready first after a start.

Counts in memory and writes behind: nobody waits for the disk, and a file that cannot be used costs only what
it would have remembered. Knows names and counts; not what they name.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from muleteer.store.database import Database, StoreError

log = logging.getLogger(__name__)

MIGRATIONS = (("CREATE TABLE uses (name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID",),)


class Usage:
    """Counts by name, of all time. `add` and `by_use` never wait and never fail."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, MIGRATIONS)
        self._counts: Counter[str] = Counter()
        self._unwritten: Counter[str] = Counter()
        self._added = asyncio.Event()
        self._failing = False

    async def open(self) -> None:
        """Read what earlier processes counted. When that fails the reason is logged and all counts are 0."""
        try:
            self._counts.update(await self._database.read(_all))
        except StoreError as error:
            self._failed(error)

    def add(self, names: Iterable[str]) -> None:
        """Each of these was needed once more."""
        for name in names:
            self._counts[name] += 1
            self._unwritten[name] += 1
        self._added.set()

    def by_use(self, names: Iterable[str]) -> list[str]:
        """The most needed first; the order given decides between equals."""
        return sorted(names, key=lambda name: -self._counts[name])

    async def run(self) -> None:
        """Write whenever there is something new; until cancelled."""
        while True:
            await self._added.wait()
            await self._write()

    async def close(self) -> None:
        """Write what is left, and close the file."""
        await self._write()
        await self._database.close()

    async def _write(self) -> None:
        """What could not be written is tried again with the next."""
        self._added.clear()
        rows, self._unwritten = self._unwritten, Counter()
        if not rows:
            return

        def insert(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO uses VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET count = count + excluded.count",
                rows.items(),
            )

        try:
            await self._database.write(insert)
        except StoreError as error:
            self._unwritten.update(rows)
            self._failed(error)
        else:
            self._failing = False

    def _failed(self, error: StoreError) -> None:
        """Told once, until it works again."""
        if not self._failing:
            log.warning("How often each prompt is used is not kept: %s", error)
        self._failing = True


def _all(connection: sqlite3.Connection) -> dict[str, int]:
    return {str(name): int(count) for name, count in connection.execute("SELECT name, count FROM uses")}
