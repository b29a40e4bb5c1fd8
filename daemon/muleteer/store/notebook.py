"""The user's notes: kept for good once acknowledged, found again by words that are nearly right.

Knows tables and ranking. What a user writes never becomes query syntax: only words that stand in the
notebook's own index are searched for.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from muleteer.store.database import Database, StoreError
from muleteer.store.matching import keywords, meanings
from muleteer.tool import Note

log = logging.getLogger(__name__)

MIGRATIONS = (
    (
        """CREATE TABLE notes (
            id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, written TEXT NOT NULL)""",
        """CREATE VIRTUAL TABLE note_index USING fts5(
            text, content='notes', content_rowid='id', tokenize='unicode61 remove_diacritics 2')""",
        "CREATE VIRTUAL TABLE note_words USING fts5vocab('note_index', 'row')",
        """CREATE TRIGGER note_added AFTER INSERT ON notes BEGIN
            INSERT INTO note_index(rowid, text) VALUES (new.id, new.text);
        END""",
        """CREATE TRIGGER note_removed AFTER DELETE ON notes BEGIN
            INSERT INTO note_index(note_index, rowid, text) VALUES ('delete', old.id, old.text);
        END""",
    ),
)


class SqliteNotebook:
    """Implements `tool.Notebook`."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, MIGRATIONS)

    async def open(self) -> None:
        """Open the file. When that fails the reason is logged and the daemon goes on: `add` and `search` try
        again, and raise `StoreError` as long as it fails."""
        try:
            await self._database.open()
        except StoreError as error:
            log.error("The notebook is not available: %s", error)

    async def close(self) -> None:
        await self._database.close()

    async def add(self, text: str) -> Note:
        """Keep a note; when this returns it is on disk. Raises `StoreError`, and then it is not."""
        when = datetime.now(UTC)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise StoreError(f"character {error.start + 1} is half of a pair and cannot be kept.") from error

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO notes (text, written) VALUES (?, ?)", (text, when.isoformat()))

        await self._database.write(insert)
        return Note(text, when.astimezone())

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        """Notes that hold the most words of the query, best first (bm25); the newest for a query without any.
        A note that another program wrote unreadably is logged and left out. Raises `StoreError`."""
        words = keywords(query)

        def select(connection: sqlite3.Connection) -> list[Note]:
            if not words:
                return list(islice(_readable(connection, _newest(connection), 1.0), limit))
            numbers, match = _ranked(connection, words)
            return list(islice(_readable(connection, numbers, match), limit))

        return await self._database.read(select)


def _newest(connection: sqlite3.Connection) -> Iterator[int]:
    return (row[0] for row in connection.execute("SELECT id FROM notes ORDER BY id DESC"))


def _ranked(connection: sqlite3.Connection, words: tuple[str, ...]) -> tuple[list[int], float]:
    """Numbers of the notes that hold as many of the words as any note does, best first, and that share of the
    words. Less than a third of them is not about the same thing."""
    vocabulary = [row[0] for row in connection.execute("SELECT term FROM note_words")]
    held: dict[int, float] = defaultdict(float)  # words held, a doubtful one counting half
    rank: dict[int, float] = defaultdict(float)  # bm25: the lower the better
    for word in words:
        terms, sureness = meanings(word, vocabulary)
        phrase = " OR ".join(f'"{term}"' for term in terms) or '""'
        rows = connection.execute(
            "SELECT rowid, bm25(note_index) FROM note_index WHERE text MATCH ?", (phrase,)
        )
        for number, score in rows:
            held[number] += sureness
            rank[number] += score
    most = max(held.values(), default=0.0)
    if 3 * most < len(words):
        return [], 0.0
    best = [number for number, count in held.items() if count == most]
    return sorted(best, key=lambda number: (rank[number], -number)), most / len(words)


def _readable(connection: sqlite3.Connection, numbers: Iterable[int], match: float) -> Iterator[Note]:
    for number in numbers:
        row = connection.execute("SELECT text, written FROM notes WHERE id = ?", (number,)).fetchone()
        try:
            text, written = row
            if not isinstance(text, str):
                raise TypeError("its text is not text")
            yield Note(text, datetime.fromisoformat(written).astimezone(), match)
        except (TypeError, ValueError, OverflowError) as error:
            log.warning("Note %d of the notebook cannot be read: %s", number, error)
