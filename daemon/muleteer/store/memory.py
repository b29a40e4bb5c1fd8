"""What was said in past turns: bounded by age and number, found again by words and dates.

Knows tables and limits. Turns are written behind the back of whoever answers: nobody waits for the disk, and
a file that cannot be used costs only what it would have remembered. Nothing of it is ever logged.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from muleteer.services import PastTurn
from muleteer.store import sessions
from muleteer.store.database import Database, StoreError
from muleteer.store.matching import keywords
from muleteer.store.ranking import Index, ranked
from muleteer.store.rows import readable
from muleteer.when.past import read_past

log = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_TEXT = 8_000  # characters kept of a message or an answer; budgets end both far below
MOST_PENDING = 256  # turns kept in memory while the file cannot be written
CLEAN_AFTER = 1_000  # turns after which what is outdated is looked for, if not once a day
CUT = " \u2026 (cut)"
FIRST, LAST = "", "\U0010ffff"  # before and after every time, and whatever else stands in its place
NEVER = (LAST, LAST)  # a span that holds nothing

MIGRATIONS = (
    (
        """CREATE TABLE turns (
            id INTEGER PRIMARY KEY AUTOINCREMENT, message TEXT NOT NULL, answer TEXT NOT NULL,
            finished TEXT NOT NULL, session TEXT NOT NULL, device TEXT NOT NULL, found INTEGER NOT NULL)""",
        "CREATE INDEX turns_by_time ON turns (finished)",
        """CREATE VIRTUAL TABLE turn_index USING fts5(
            message, answer, content='turns', content_rowid='id',
            tokenize='unicode61 remove_diacritics 2')""",
        "CREATE VIRTUAL TABLE turn_words USING fts5vocab('turn_index', 'row')",
        """CREATE TRIGGER turn_added AFTER INSERT ON turns BEGIN
            INSERT INTO turn_index(rowid, message, answer) VALUES (new.id, new.message, new.answer);
        END""",
        """CREATE TRIGGER turn_removed AFTER DELETE ON turns BEGIN
            INSERT INTO turn_index(turn_index, rowid, message, answer)
            VALUES ('delete', old.id, old.message, old.answer);
        END""",
    ),
    sessions.MIGRATION,
)
INDEX = Index(
    vocabulary="SELECT term FROM turn_words",
    match="""SELECT turn_index.rowid, bm25(turn_index) FROM turn_index
        JOIN turns ON turns.id = turn_index.rowid
        WHERE turn_index MATCH ? AND finished >= ? AND finished < ?""",
)
FORGET_WORDS = "INSERT INTO turn_index(turn_index) VALUES ('rebuild')"  # 'delete' alone only marks them
INSERT = """INSERT INTO turns (message, answer, finished, session, device, found, looked_up)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
OUTDATED = """FROM turns WHERE finished < ?
    OR id <= (SELECT id FROM turns ORDER BY id DESC LIMIT 1 OFFSET ?)"""
NOT_KEPT = "what is said is not kept; the setting memory.keep_days is 0."


@dataclass(frozen=True, slots=True)
class Kept:
    """How much is kept: turns in the file, when the oldest was finished (empty: none), turns that could not
    be written and were dropped, and those that wait in memory until they can be."""

    turns: int
    oldest: str
    dropped: int
    waiting: int = 0


class TurnMemory:
    """Implements `services.Memory`. Keeps turns for `days` days (0: none), and the newest `turns` of them.
    `add` never waits and never fails."""

    def __init__(self, path: Path, days: int, turns: int, device: str = "") -> None:
        self.days, self.turns = days, turns
        self._path, self._device = path, device
        self._database = Database(path, MIGRATIONS)
        self._pending: deque[tuple[str | bool, ...]] = deque(maxlen=MOST_PENDING)
        self._added, self._settled = asyncio.Event(), asyncio.Event()
        self._settled.set()
        self._whole = asyncio.Lock()  # while it is held, each turn is either in the file or in `_pending`
        self._writing: asyncio.Task[None] | None = None
        self._ending = False
        self._dropped = 0
        self._failing = ""  # why the last attempt to write failed
        self._cleaned = ""  # the day on which outdated turns were last erased
        self._unclean = 0  # turns written since

    async def open(self) -> None:
        """Open the file and erase what is outdated. When that fails the reason is logged, and every use tries
        again. Where nothing is kept no file is made, and one from before is emptied."""
        if not self.days and not self._path.exists():
            return
        try:
            await self._clean()
        except StoreError as error:
            self._failed(error)
        self._writing = asyncio.create_task(self._run(), name="memory")

    async def close(self) -> None:
        """Write what is left, and close the file."""
        self._ending = True
        self._added.set()
        if self._writing is not None:
            await asyncio.wait({self._writing})
        await self._database.close()

    def add(
        self, message: str, answer: str, session: str, found: bool = True, looked_up: bool = False
    ) -> None:
        """Keep a finished turn; `found` as in `services.PastTurn`, `looked_up` as in `sessions.Exchange`."""
        if self.days:
            texts = tuple(_storable(text) for text in (message, answer))
            self._dropped += len(self._pending) == MOST_PENDING
            self._pending.append((*texts, _stamp(datetime.now(UTC)), session, self._device, found, looked_up))
            self._settled.clear()
            self._added.set()

    async def search(self, query: str, limit: int = 8, when: str = "") -> list[PastTurn]:
        """Turns that hold the most words of the query, best first, those that found nothing after the others;
        the newest for a query without words.
        `when` names the time they were finished in, as `when/past.py` reads it; empty: any. Raises
        `ValueError` for words that name no time, `StoreError` for all else: also where nothing was found
        while turns of that time wait for the disk, which were not looked at."""
        words, span = keywords(query), span_of(when)

        def select(connection: sqlite3.Connection) -> list[PastTurn]:
            if not words:
                return _take(connection, _newest(connection, span), 1.0, limit)
            numbers, match = ranked(connection, INDEX, words, span)
            vain = {row[0] for row in connection.execute("SELECT id FROM turns WHERE NOT found")}
            numbers.sort(key=vain.__contains__)
            return _take(connection, numbers, match, limit)

        found = await self._read(select)
        waiting = sum(1 for row in self._pending if _within(row, span))
        if waiting and self._failing and not found:
            raise StoreError(f"turns that were not looked at ({waiting}) wait to be written: {self._failing}")
        return found

    async def talk(self, session: str, days: int) -> list[sessions.Exchange]:
        """What was said in a session in the last so many days, oldest first. Raises `StoreError`."""
        since = _stamp(datetime.now(UTC) - timedelta(days=days))
        return await self._read(lambda connection: sessions.talk(connection, session, since))

    async def sessions(self, owner: str = "") -> list[sessions.Session]:
        """The sessions of an owner that have a name, the newest first; without one, all. Raises
        `StoreError`."""
        return await self._read(lambda connection: sessions.listed(connection, owner))

    async def forget_session(self, name: str) -> int:
        """`forget` for all turns of a session."""
        return await self._erase(lambda connection: sessions.forget(connection, name))

    async def kept(self) -> Kept:
        """Raises `StoreError`."""

        def count(connection: sqlite3.Connection) -> Kept:
            turns, oldest = connection.execute("SELECT count(*), min(finished) FROM turns").fetchone()
            return Kept(turns, str(oldest or ""), self._dropped, len(self._pending))

        return await self._read(count) if self.days else Kept(0, "", 0)

    async def forget(self, numbers: Iterable[int]) -> int:
        """Remove turns, their words from the index, and their traces from the file; how many there were.
        Raises `StoreError`."""
        doomed = [(number,) for number in numbers]
        return await self._erase(
            lambda connection: connection.executemany("DELETE FROM turns WHERE id = ?", doomed).rowcount
        )

    async def forget_time(self, when: str) -> int:
        """`forget` for all turns finished in the time that `when` names as in `search`; empty: all there
        are."""
        span = span_of(when)
        remove = "DELETE FROM turns WHERE finished >= ? AND finished < ?"
        return await self._erase(lambda connection: connection.execute(remove, span).rowcount, span)

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Of a memory that has taken in all that was added."""
        if not self.days:
            raise StoreError(NOT_KEPT)
        await self._settle()
        return await self._database.read(work)

    async def _settle(self) -> None:
        """Until all that was added is written, or could not be, tried just now."""
        if self._pending and not self._ending:
            self._settled.clear()
            self._added.set()
        await self._settled.wait()

    async def _erase(self, remove: Callable[[sqlite3.Connection], int], span: tuple[str, str] = NEVER) -> int:
        """Also what waits for the disk and was finished in `span`, or it would come back with the next
        turn."""
        if not self.days and not self._path.exists():
            return 0
        await self._settle()

        def erase(connection: sqlite3.Connection) -> int:
            count = remove(connection)
            connection.execute(FORGET_WORDS)
            return count

        async with self._whole:
            left = [row for row in self._pending if not _within(row, span)]
            gone = len(self._pending) - len(left)
            self._pending = deque(left, maxlen=MOST_PENDING)
            return gone + await self._database.erase(erase)

    async def _run(self) -> None:
        """Write whenever there is something new, until `close`. The one place that writes turns, so that
        nobody who gives up waiting loses one."""
        ending = False
        while not ending:
            await self._added.wait()
            self._added.clear()
            ending = self._ending  # what is added from here on sets the event again
            async with self._whole:
                await self._write()
            if ending or not self._added.is_set():
                self._settled.set()

    async def _write(self) -> None:
        """What could not be written is tried again with the next, and the oldest is dropped when too much
        waits. Once in a while what is outdated goes."""
        rows, self._pending = self._pending, deque(maxlen=MOST_PENDING)
        try:
            if rows:
                await self._database.write(lambda connection: connection.executemany(INSERT, rows))
                self._unclean += len(rows)
                rows.clear()
                self._failing = ""
            if self._unclean and (self._unclean > CLEAN_AFTER or self._cleaned != _today()):
                await self._clean()
        except StoreError as error:
            self._dropped += max(0, len(rows) + len(self._pending) - MOST_PENDING)
            self._pending = deque((*rows, *self._pending), maxlen=MOST_PENDING)
            self._failed(error)

    async def _clean(self) -> None:
        """Erase what is older than it may be, or more than may be."""
        before = _stamp(datetime.now(UTC) - timedelta(days=self.days)) if self.days else LAST
        limits = (before, self.turns)

        def count(connection: sqlite3.Connection) -> int:
            return int(connection.execute(f"SELECT count(*) {OUTDATED}", limits).fetchone()[0])

        def erase(connection: sqlite3.Connection) -> None:
            connection.execute(f"DELETE {OUTDATED}", limits)
            connection.execute(FORGET_WORDS)

        if await self._database.read(count):
            await self._database.erase(erase)
        self._cleaned, self._unclean = _today(), 0

    def _failed(self, error: StoreError) -> None:
        """Told once, until it works again."""
        if not self._failing:
            log.warning("What is said is not remembered: %s", error)
        self._failing = str(error)


def _newest(connection: sqlite3.Connection, span: tuple[str, str]) -> Iterator[int]:
    rows = connection.execute(
        "SELECT id FROM turns WHERE finished >= ? AND finished < ? ORDER BY finished DESC, id DESC", span
    )
    return (row[0] for row in rows)


def _take(connection: sqlite3.Connection, numbers: Iterable[int], match: float, limit: int) -> list[PastTurn]:
    return readable(numbers, lambda number: _turn(connection, number, match), limit, "turn")


def _turn(connection: sqlite3.Connection, number: int, match: float) -> PastTurn:
    row = connection.execute(
        "SELECT message, answer, finished, session, device, found FROM turns WHERE id = ?", (number,)
    ).fetchone()
    *texts, found = row
    if not all(isinstance(value, str) for value in texts):
        raise TypeError("its text is not text")
    message, answer, finished, session, device = texts
    when = datetime.fromisoformat(finished).astimezone()
    return PastTurn(message, answer, when, match, session, device, number, bool(found))


def _within(row: Sequence[str | bool], span: tuple[str, str]) -> bool:
    """Whether a turn that waits was finished in `span`."""
    return span[0] <= str(row[2]) < span[1]


def _storable(text: str) -> str:
    """Cut with a visible mark, and without halves of characters, which no file can hold."""
    whole = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - len(CUT)] + CUT
    return whole.encode(errors="replace").decode()


def span_of(when: str) -> tuple[str, str]:
    """The time that the words name, as the file has it: the first moment, and the first one after it. Raises
    `ValueError`."""
    if not when.strip():
        return FIRST, LAST
    now = datetime.now()
    span = read_past(when, now)
    if span is None:
        said = " ".join(when.split())[:60]
        raise ValueError(f'"{said}" names no time that is over; write it like {now:%Y-%m-%d} or "last week".')
    since, until = span
    try:
        return _stamp(since) if since else FIRST, _stamp(until) if until else LAST
    except (ValueError, OverflowError) as error:  # in UTC it is before the year 1
        said = " ".join(when.split())[:60]
        raise ValueError(f'"{said}" is before all dates; write a day like {now:%Y-%m-%d}.') from error


def _stamp(when: datetime) -> str:
    """Of one width, so that texts sort as times do; a time without a zone is local."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
