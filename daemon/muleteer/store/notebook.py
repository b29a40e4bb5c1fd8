"""The user's notes, on pages: kept for good once acknowledged, found again by words that are nearly right.

Knows tables; `ranking.py` knows which note is the best, `pages.py` on which page it belongs.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from muleteer import session
from muleteer.services import Note
from muleteer.store.database import Database, StoreError
from muleteer.store.matching import keywords
from muleteer.store.pages import COMMON_PAGE, page_for, page_name, same_page
from muleteer.store.ranking import Index, ranked
from muleteer.store.rows import readable

log = logging.getLogger(__name__)

MOST_NOTES = 100_000  # a lifetime of them; more is a program that writes in a circle

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
    (  # pages, sessions, devices; the page `Notes` has no name here, so that searching never finds it by that
        "DROP TRIGGER note_added",
        "DROP TRIGGER note_removed",
        "DROP TABLE note_words",
        "DROP TABLE note_index",
        "ALTER TABLE notes ADD COLUMN page TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE notes ADD COLUMN session TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE notes ADD COLUMN device TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX notes_by_page ON notes (page)",
        """CREATE VIRTUAL TABLE note_index USING fts5(
            text, page, content='notes', content_rowid='id', tokenize='unicode61 remove_diacritics 2')""",
        "CREATE VIRTUAL TABLE note_words USING fts5vocab('note_index', 'row')",
        """CREATE TRIGGER note_added AFTER INSERT ON notes BEGIN
            INSERT INTO note_index(rowid, text, page) VALUES (new.id, new.text, new.page);
        END""",
        """CREATE TRIGGER note_removed AFTER DELETE ON notes BEGIN
            INSERT INTO note_index(note_index, rowid, text, page)
            VALUES ('delete', old.id, old.text, old.page);
        END""",
        "INSERT INTO note_index(note_index) VALUES ('rebuild')",
    ),
)
INDEX = Index(
    vocabulary="SELECT term FROM note_words",
    match="SELECT rowid, bm25(note_index) FROM note_index WHERE note_index MATCH ?",
)
FORGET_WORDS = "INSERT INTO note_index(note_index) VALUES ('rebuild')"  # 'delete' alone only marks them
# Every zone has a name for these, and Python's dates end with the years 1 and 9999.
FIRST_TIME, LAST_TIME = datetime(2, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
INSERT = "INSERT INTO notes (text, written, page, session, device) VALUES (?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Page:
    """A page by name: how many notes, and when the newest was written."""

    name: str
    notes: int
    newest: str


class SqliteNotebook:
    """Implements `services.Notebook`. `device` is written into every note, beside the turn's session."""

    def __init__(self, path: Path, device: str = "") -> None:
        self._database = Database(path, MIGRATIONS)
        self._device = device

    async def open(self) -> None:
        """Open the file. When that fails the reason is logged and the daemon goes on: `add` and `search` try
        again, and raise `StoreError` as long as it fails."""
        try:
            await self._database.open()
        except StoreError as error:
            log.error("The notebook is not available: %s", error)

    async def close(self) -> None:
        await self._database.close()

    async def add(self, text: str, page: str = "") -> Note:
        """Keep a note; when this returns it is on disk. Without a page `pages.py` chooses one. Raises
        `StoreError`, and then it is not."""
        note = Note(text, datetime.now(UTC), page=page, session=session.current.get(), device=self._device)

        _check_text(text)

        def insert(connection: sqlite3.Connection) -> Note:
            _check_room(connection, 1)
            return _insert(connection, note, _pages(connection))

        return await self._database.write(insert)

    async def keep(self, notes: Sequence[Note], dated: Sequence[bool]) -> int:
        """Keep notes that were written elsewhere, all or none; how many were new. One that stands on its page
        already, and is of the same time where that is known, is not written twice. Raises `StoreError`, and
        `ValueError` for a time that is none in some zone."""

        for note in notes:
            _check_text(note.text)
            _check_time(note)

        def insert(connection: sqlite3.Connection) -> int:
            _check_room(connection, len(notes))
            pages = _pages(connection)
            new = 0
            for note, known in zip(notes, dated, strict=True):
                if not _stands(connection, note, known, pages):
                    _insert(connection, note, pages)
                    pages = _pages(connection)
                    new += 1
            return new

        return await self._database.write(insert)

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        """Notes that hold the most words of the query, or stand on a page of that name, best first; the
        newest for a query without words. What cannot be read is logged and left out; where that is all there
        is, and in every other need, raises `StoreError`."""
        words = keywords(query)

        def select(connection: sqlite3.Connection) -> list[Note]:
            if not words:
                return _take(connection, _newest(connection), 1.0, limit)
            numbers, match = ranked(connection, INDEX, words)
            return _take(connection, numbers, match, limit)

        return await self._database.read(select)

    async def pages(self) -> list[Page]:
        """Every page, by name. Raises `StoreError`."""

        def select(connection: sqlite3.Connection) -> list[Page]:
            rows = connection.execute("SELECT page, count(*), max(written) FROM notes GROUP BY page")
            found = [Page(name or COMMON_PAGE, count, str(newest)) for name, count, newest in rows]
            return sorted(found, key=lambda page: page.name.casefold())

        return await self._database.read(select)

    async def notes(self, page: str = "", after: int = 0, limit: int = 100) -> list[Note]:
        """The notes with numbers above `after` in their order, of one page or of all. Raises `StoreError`."""

        def select(connection: sqlite3.Connection) -> list[Note]:
            rows = connection.execute("SELECT id, page FROM notes WHERE id > ? ORDER BY id", (after,))
            wanted = _stored_page(page, _pages(connection))
            numbers = [number for number, on in rows if not page or on == wanted]
            return _take(connection, numbers, 1.0, limit, strict=not after)

        return await self._database.read(select)

    async def forget(self, numbers: Iterable[int]) -> int:
        """Remove notes, their words from the index, and their traces from the file; how many there were.
        Raises `StoreError`."""
        doomed = [(number,) for number in numbers]

        def remove(connection: sqlite3.Connection) -> int:
            count = connection.executemany("DELETE FROM notes WHERE id = ?", doomed).rowcount
            connection.execute(FORGET_WORDS)
            return count

        return await self._database.erase(remove)

    async def forget_page(self, page: str) -> int:
        """`forget` for all notes of a page."""

        def remove(connection: sqlite3.Connection) -> int:
            name = _stored_page(page, _pages(connection))
            count = connection.execute("DELETE FROM notes WHERE page = ?", (name,)).rowcount
            connection.execute(FORGET_WORDS)
            return count

        return await self._database.erase(remove)

    async def forget_all(self) -> int:
        """`forget` for all notes."""

        def remove(connection: sqlite3.Connection) -> int:
            count = connection.execute("DELETE FROM notes").rowcount
            connection.execute(FORGET_WORDS)
            return count

        return await self._database.erase(remove)


def _pages(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT DISTINCT page FROM notes") if row[0]}


def _stored_page(name: str, pages: set[str]) -> str:
    return same_page(page_name(name), pages)


def _check_room(connection: sqlite3.Connection, more: int) -> None:
    count = connection.execute("SELECT count(*) FROM notes").fetchone()[0]
    if count + more > MOST_NOTES:
        raise StoreError(f"the notebook is full with {count:,} notes; forget some with `muleteer memory`.")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StoreError(f"character {error.start + 1} is half of a pair and cannot be kept.") from error


def _check_time(note: Note) -> None:
    if not FIRST_TIME <= note.when < LAST_TIME:
        raise ValueError(
            f"a note cannot be of {note.when.isoformat()}; give a time of the years {FIRST_TIME.year} to "
            f"{LAST_TIME.year - 1}."
        )


def _insert(connection: sqlite3.Connection, note: Note, pages: set[str]) -> Note:
    page = same_page(_chosen_page(note, pages), pages)
    written = note.when.astimezone(UTC).isoformat()
    row = (note.text, written, page, note.session, note.device)
    number = connection.execute(INSERT, row).lastrowid or 0
    return Note(
        note.text, note.when.astimezone(), 1.0, page or COMMON_PAGE, note.session, note.device, number
    )


def _chosen_page(note: Note, pages: set[str]) -> str:
    """A note that was kept before stands on the common page because it belongs there."""
    if note.page == COMMON_PAGE:
        return ""
    return page_name(note.page) or page_for(note.text, pages)


def _stands(connection: sqlite3.Connection, note: Note, dated: bool, pages: set[str]) -> bool:
    written = note.when.astimezone(UTC).isoformat() if dated else None
    where = (note.text, _stored_page(note.page, pages), written)
    found = connection.execute(
        "SELECT 1 FROM notes WHERE text = ?1 AND page = ?2 AND coalesce(written = ?3, TRUE)", where
    )
    return found.fetchone() is not None


def _newest(connection: sqlite3.Connection) -> Iterator[int]:
    return (row[0] for row in connection.execute("SELECT id FROM notes ORDER BY id DESC"))


def _take(
    connection: sqlite3.Connection, numbers: Iterable[int], match: float, limit: int, strict: bool = True
) -> list[Note]:
    return readable(numbers, lambda number: _note(connection, number, match), limit, "note", strict)


def _note(connection: sqlite3.Connection, number: int, match: float) -> Note:
    row = connection.execute(
        "SELECT text, written, page, session, device FROM notes WHERE id = ?", (number,)
    ).fetchone()
    text, written, *rest = row
    if not all(isinstance(value, str) for value in row):
        raise TypeError("its text is not text")
    page, writer, device = rest
    when = datetime.fromisoformat(written).astimezone()
    return Note(text, when, match, page or COMMON_PAGE, writer, device, number)
