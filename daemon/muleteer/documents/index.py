"""The tables of the index: which files there are, and their words.

Knows rows; does no looking at the disk. Paths are bytes, as the file system has them; `name` and `place` are
the same as they may be shown. Every function works on a connection inside a transaction of its caller.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from muleteer.documents.child import Extract
from muleteer.documents.folders import Listing, Stamp, shown
from muleteer.documents.text import KINDS

Connection = sqlite3.Connection
WAITING, READ, NAME_ONLY = 0, 1, 2
FULL = "the index is full"
TOO_LARGE = "larger than files.largest"
PROBLEM_LIMIT = 16  # kinds of problems that are told apart
ASKED = "id, root, path, size, modified, inode FROM files"
# Between small and capital, letter and digit: CarInvoice2026 has three words.
SEAMS = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")

MIGRATIONS = (
    (
        "CREATE TABLE roots (path BLOB PRIMARY KEY, device INTEGER, inode INTEGER) WITHOUT ROWID",
        """CREATE TABLE files (
            id INTEGER PRIMARY KEY AUTOINCREMENT, root BLOB NOT NULL, folder BLOB NOT NULL,
            path BLOB NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, inode INTEGER NOT NULL,
            state INTEGER NOT NULL, problem TEXT NOT NULL DEFAULT '', cut INTEGER NOT NULL DEFAULT 0,
            length INTEGER NOT NULL DEFAULT 0, name TEXT NOT NULL, place TEXT NOT NULL,
            words TEXT NOT NULL, text TEXT NOT NULL DEFAULT '', UNIQUE (root, path))""",
        "CREATE INDEX files_by_folder ON files (root, folder)",
        "CREATE INDEX files_by_state ON files (state, modified, problem, length)",
        """CREATE VIRTUAL TABLE file_index USING fts5(
            words, place, text, content='files', content_rowid='id',
            tokenize='unicode61 remove_diacritics 2')""",
        "CREATE VIRTUAL TABLE file_words USING fts5vocab('file_index', 'row')",
        """CREATE TRIGGER file_added AFTER INSERT ON files BEGIN
            INSERT INTO file_index(rowid, words, place, text)
            VALUES (new.id, new.words, new.place, new.text);
        END""",
        """CREATE TRIGGER file_removed AFTER DELETE ON files BEGIN
            INSERT INTO file_index(file_index, rowid, words, place, text)
            VALUES ('delete', old.id, old.words, old.place, old.text);
        END""",
        """CREATE TRIGGER file_read AFTER UPDATE OF words, place, text ON files BEGIN
            INSERT INTO file_index(file_index, rowid, words, place, text)
            VALUES ('delete', old.id, old.words, old.place, old.text);
            INSERT INTO file_index(rowid, words, place, text)
            VALUES (new.id, new.words, new.place, new.text);
        END""",
    ),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How many files and bytes of text (as characters) the index holds, and how large a file may be, in
    bytes, for its text to be read."""

    files: int
    text: int
    largest: int


@dataclass(frozen=True, slots=True)
class Job:
    """A file whose text has yet to be read; `stamp` is what it had when it was listed."""

    id: int
    root: Path
    path: str
    kind: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Counts:
    """Files in all, those with their text, those that wait for it, and why others are known by name only."""

    files: int = 0
    read: int = 0
    waiting: int = 0
    text: int = 0
    problems: tuple[tuple[str, int], ...] = ()


def kind_of(path: str) -> str:
    """The suffix by which a file is read; empty when its kind has no text."""
    suffix = os.path.splitext(path)[1].removeprefix(".").lower()
    return suffix if suffix in KINDS else ""


def record(connection: sqlite3.Connection, root: Path, folder: str, listing: Listing, limits: Limits) -> int:
    """Make the rows of one folder what was listed: changed files wait to be read again, and those that are
    gone are forgotten, with all below folders that are gone; what is unseen stays. Returns how many new files
    found no room."""
    known = {
        os.fsdecode(path): (number, Stamp(size, modified, inode))
        for number, path, size, modified, inode in connection.execute(
            "SELECT id, path, size, modified, inode FROM files WHERE root = ? AND folder = ?",
            (os.fsencode(root), os.fsencode(folder)),
        )
    }
    found = {_joined(folder, name): stamp for name, stamp in listing.files.items()}
    unseen = {_joined(folder, name) for name in listing.unseen}
    gone = [number for path, (number, _) in known.items() if path not in found and path not in unseen]
    connection.executemany("DELETE FROM files WHERE id = ?", [(number,) for number in gone])
    folders = {_joined(folder, name) for name in listing.folders}
    _forget_folders(connection, root, folder, folders | unseen)
    places = limits.files - int(connection.execute("SELECT count(*) FROM files").fetchone()[0])
    refused = 0
    for path, stamp in found.items():
        if path in known:
            number, before = known[path]
            if before != stamp:
                _renew(connection, number, path, stamp, limits)
        elif places > 0:
            places -= 1
            _add(connection, root, folder, path, stamp, limits)
        else:
            refused += 1
    return refused


def forget(connection: sqlite3.Connection, root: Path, folder: str) -> None:
    """Remove everything in and below a folder."""
    _remove_below(connection, root, folder)
    connection.execute(
        "DELETE FROM files WHERE root = ? AND folder = ?", (os.fsencode(root), os.fsencode(folder))
    )


def keep_roots(connection: sqlite3.Connection, roots: Collection[Path]) -> None:
    """Forget the files of folders that are no longer in the settings."""
    kept = {os.fsencode(root) for root in roots}
    for (path,) in connection.execute("SELECT DISTINCT root FROM files").fetchall():
        if path not in kept:
            connection.execute("DELETE FROM files WHERE root = ?", (path,))
            connection.execute("DELETE FROM roots WHERE path = ?", (path,))


def identity_of(connection: sqlite3.Connection, root: Path) -> tuple[tuple[int, int] | None, int]:
    """Device and inode that a root had when it was last listed, and how many files are known of it."""
    row = connection.execute(
        "SELECT device, inode FROM roots WHERE path = ?", (os.fsencode(root),)
    ).fetchone()
    count = connection.execute("SELECT count(*) FROM files WHERE root = ?", (os.fsencode(root),)).fetchone()
    return (None if row is None else (int(row[0]), int(row[1]))), int(count[0])


def note_identity(connection: sqlite3.Connection, root: Path, identity: tuple[int, int]) -> None:
    connection.execute("INSERT OR REPLACE INTO roots VALUES (?, ?, ?)", (os.fsencode(root), *identity))


def waiting(connection: sqlite3.Connection, roots: Collection[Path], limit: int) -> list[Job]:
    """The next files to read, the newest first, of those roots."""
    marks = ", ".join("?" * len(roots))
    rows = connection.execute(
        f"SELECT {ASKED} WHERE state = ? AND root IN ({marks}) ORDER BY modified DESC LIMIT ?",
        (WAITING, *map(os.fsencode, roots), limit),
    )
    return [
        Job(number, Path(os.fsdecode(root)), os.fsdecode(path), kind_of(os.fsdecode(path)), Stamp(*stamp))
        for number, root, path, *stamp in rows
    ]


def room(connection: sqlite3.Connection, limits: Limits) -> int:
    """How many characters of text the index can still take; it reads a row of every file."""
    total = int(connection.execute("SELECT coalesce(sum(length), 0) FROM files").fetchone()[0])
    return limits.text - total


def store(connection: sqlite3.Connection, job: Job, stamp: Stamp, extract: Extract, room: int) -> int:
    """Keep the text of a file that was read when it had this stamp, if there is room. Returns its length."""
    if len(extract.text) > room:
        extract = Extract(problem=FULL)
    connection.execute(
        "UPDATE files SET size = ?, modified = ?, inode = ?, state = ?, problem = ?, cut = ?, length = ?,"
        " text = ? WHERE id = ?",
        (
            *(stamp.size, stamp.modified, stamp.inode, NAME_ONLY if extract.problem else READ),
            *(extract.problem, extract.cut, len(extract.text), extract.text, job.id),
        ),
    )
    return len(extract.text)


def drop(connection: sqlite3.Connection, job: Job) -> None:
    """Forget a file that is no longer there."""
    connection.execute("DELETE FROM files WHERE id = ?", (job.id,))


def retry(connection: sqlite3.Connection, limits: Limits) -> None:
    """Let the files wait again that were left out under limits which are not those of today."""
    connection.execute(
        "UPDATE files SET state = ?, problem = '' WHERE problem = ? AND size <= ?",
        (WAITING, TOO_LARGE, limits.largest),
    )
    if room(connection, limits) > 0:
        connection.execute("UPDATE files SET state = ?, problem = '' WHERE problem = ?", (WAITING, FULL))


def counts(connection: sqlite3.Connection) -> Counts:
    """What the index holds now."""
    states: Counter[int] = Counter()
    problems: Counter[str] = Counter()
    text = 0
    for state, problem, count, length in connection.execute(
        "SELECT state, problem, count(*), sum(length) FROM files GROUP BY state, problem"
    ):
        states[state] += count
        text += length
        if problem:
            problems[problem] += count
    return Counts(
        states.total(), states[READ], states[WAITING], text, tuple(problems.most_common(PROBLEM_LIMIT))
    )


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _forget_folders(connection: sqlite3.Connection, root: Path, folder: str, kept: set[str]) -> None:
    """Remove what is below folders that `folder` no longer holds."""
    for known in set(_below(connection, root, folder)):
        head = known[len(folder) + 1 if folder else 0 :].partition("/")[0]
        if _joined(folder, head) not in kept:
            forget(connection, root, known)


def _remove_below(connection: sqlite3.Connection, root: Path, folder: str) -> None:
    for known in set(_below(connection, root, folder)):
        connection.execute(
            "DELETE FROM files WHERE root = ? AND folder = ?", (os.fsencode(root), os.fsencode(known))
        )


def _below(connection: sqlite3.Connection, root: Path, folder: str) -> Iterator[str]:
    """Folders with files in them that are below `folder`."""
    first = os.fsencode(folder) + b"/" if folder else b"\0"
    last = first[:-1] + b"0" if folder else b"\xff" * 256  # "0" comes after "/"; a name has at most 255 bytes
    rows: Iterable[tuple[bytes]] = connection.execute(
        "SELECT DISTINCT folder FROM files WHERE root = ? AND folder >= ? AND folder < ?",
        (os.fsencode(root), first, last),
    ).fetchall()
    return (os.fsdecode(known) for (known,) in rows)


def _add(
    connection: sqlite3.Connection, root: Path, folder: str, path: str, stamp: Stamp, limits: Limits
) -> None:
    state, problem = _first_state(path, stamp, limits)
    name = shown(path.rpartition("/")[2])
    place = shown(_joined(root.name, folder) if folder else root.name)
    connection.execute(
        "INSERT INTO files (root, folder, path, size, modified, inode, state, problem, name, place, words)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(os.fsencode(root), os.fsencode(folder), os.fsencode(path)),
            *(stamp.size, stamp.modified, stamp.inode, state, problem),
            *(name, place, f"{name} {SEAMS.sub(' ', name)}"),
        ),
    )


def _renew(connection: sqlite3.Connection, number: int, path: str, stamp: Stamp, limits: Limits) -> None:
    """The old text goes at once: it may be what somebody wanted to be rid of."""
    state, problem = _first_state(path, stamp, limits)
    connection.execute(
        "UPDATE files SET size = ?, modified = ?, inode = ?, state = ?, problem = ?, cut = 0, length = 0,"
        " text = '' WHERE id = ?",
        (stamp.size, stamp.modified, stamp.inode, state, problem, number),
    )


def _first_state(path: str, stamp: Stamp, limits: Limits) -> tuple[int, str]:
    if not kind_of(path):
        return NAME_ONLY, ""
    if stamp.size > limits.largest:
        return NAME_ONLY, TOO_LARGE
    return WAITING, ""
