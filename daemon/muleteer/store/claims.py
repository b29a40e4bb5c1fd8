"""Which slots of background work were claimed, and what became of them, for a year. Knows rows.

What a claim means, and which of two wins, is the business of `seat/claims.py`.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muleteer.seat.claims import Claim, State, is_forgotten
from muleteer.store.database import MISREAD, Database

log = logging.getLogger(__name__)

MIGRATIONS = (
    (
        """CREATE TABLE claims (
            number INTEGER PRIMARY KEY AUTOINCREMENT, skill TEXT NOT NULL, slot TEXT NOT NULL,
            term INTEGER NOT NULL, device TEXT NOT NULL, repeatable INTEGER NOT NULL, state TEXT NOT NULL,
            attempt INTEGER NOT NULL, settles INTEGER NOT NULL, made REAL, UNIQUE (skill, slot))""",
    ),
)
COLUMNS = "skill, slot, term, device, repeatable, state, attempt, settles, made"
MOST = 200_000  # claims kept; a year of 24 skills, each every hour
FARTHEST = 1e11  # seconds since 1970


class ClaimStore:
    """Every method raises `StoreError` when the file cannot be used; what was written is on disk."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, MIGRATIONS)

    async def close(self) -> None:
        await self._database.close()

    async def load(self) -> list[Claim]:
        """All of them, the last to change at the end; a damaged row is logged and left out."""

        def select(connection: sqlite3.Connection) -> list[Claim]:
            found = []
            for row in connection.execute(f"SELECT {COLUMNS} FROM claims ORDER BY number"):  # noqa: S608
                try:
                    found.append(_claim(row))
                except MISREAD as error:
                    log.warning("A claim cannot be read: %s", error)
            return found

        return await self._database.read(select)

    async def keep(self, claims: Iterable[Claim]) -> None:
        """These claims as they are now."""
        rows = [_row(each) for each in claims]

        def replace(connection: sqlite3.Connection) -> None:
            marks = f"REPLACE INTO claims ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
            connection.executemany(marks, rows)

        await self._database.write(replace)

    async def check(self) -> None:
        """Raises `StoreError` where nothing can be written now."""
        version = len(MIGRATIONS)
        await self._database.write(lambda connection: connection.execute(f"PRAGMA user_version = {version}"))

    async def forget(self, now: datetime) -> list[tuple[str, str]]:
        """Remove what is older than a year, and what is too much; returns the skills and slots."""
        before = await self.load()
        surplus = max(0, len(before) - MOST)
        old = [each.key for at, each in enumerate(before) if at < surplus or is_forgotten(each, now)]

        def delete(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM claims WHERE skill = ? AND slot = ?", old)

        if old:
            await self._database.write(delete)
        return old


def _row(claim: Claim) -> tuple[object, ...]:
    made = claim.made.timestamp() if claim.made else None
    run = claim.term, claim.device, int(claim.repeatable), claim.state.value, claim.attempt
    return claim.skill, claim.slot, *run, int(claim.settles), made


def _claim(row: tuple[Any, ...]) -> Claim:
    """Raises what `MISREAD` names for a row that nobody of ours has written."""
    skill, slot, term, device, repeatable, state, attempt, settles, made = row
    if made is not None and not 0 <= made < FARTHEST:
        raise ValueError("it was made at no time")
    when = None if made is None else datetime.fromtimestamp(made, UTC)
    numbers = int(term), str(device), bool(repeatable), State(state), int(attempt), bool(settles)
    return Claim(str(skill), str(slot), *numbers, when)
