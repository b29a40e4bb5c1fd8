"""One SQLite file, used from one thread of its own.

Knows migrations, durability and how SQLite fails; knows nothing of what the tables mean. A file that cannot
be used is left exactly as it is, and opening it is tried again at the next use: a full or missing disk may
come back. A file that was removed or replaced under an open connection would swallow what is written, so
each transaction begins and ends with a look at the path.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from muleteer.files import check_regular, identity

log = logging.getLogger(__name__)

T = TypeVar("T")
Migration = Sequence[str]

ROOM = 64 * 1024  # bytes free: with less, SQLite has no place for its index of the log (32 KiB) and a page
# What reading rows raises when they are not what was written; SQLite itself finds only broken pages.
MISREAD = (ValueError, TypeError, ArithmeticError)
WRITE = "BEGIN IMMEDIATE"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)  # no space, no inode, or none left of this user's share
REMAINS = "It is removed, but traces of it may remain in the file; remove anything again later"
BUSY_TIMEOUT = 5.0  # seconds to wait for another process's transaction; longer than any of ours takes


class StoreError(OSError):
    """The file cannot be opened, read or written. `str(error)` is the sentence for people."""


class Database:
    """`migrations[n]` are the SQL statements that lead from schema version n to n + 1."""

    def __init__(self, path: Path, migrations: Sequence[Migration]) -> None:
        self._path = path
        self._migrations = migrations
        self._connection: sqlite3.Connection | None = None
        self._opened: list[tuple[int, int] | None] = []
        self._thread: ThreadPoolExecutor | None = None

    async def open(self) -> None:
        """Open the file now, and bring its schema up to date. Raises `StoreError`."""
        await self.read(lambda _: None)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` on one unchanging state of the file; it works on a full disk too. Raises `StoreError`,
        also where `work` cannot make anything of the rows it is given."""

        def reading(connection: sqlite3.Connection) -> T:
            try:
                return work(connection)
            except MISREAD as error:
                raise StoreError(self._explain(error)) from error

        return await self._run("BEGIN", reading)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in one transaction; when this returns, it is on disk. Raises `StoreError`, and then
        nothing of it happened, or the file was exchanged meanwhile. Cancelled before it began, it is
        dropped; after, it is finished unwatched."""
        return await self._run(WRITE, work)

    async def erase(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`write`, and then nothing that it removed is left in the file or its log. Raises `StoreError` also
        when it was removed but the file could not be cleaned; erasing anything again cleans it."""
        return await self._run(WRITE, work, self._clean)

    async def _run(
        self,
        begin: str,
        work: Callable[[sqlite3.Connection], T],
        after: Callable[[sqlite3.Connection], None] | None = None,
    ) -> T:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._transact, begin, work, after or self._fold)

    async def close(self) -> None:
        """Finish what was begun and close the file. May be called twice; the next use opens it again."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.get_running_loop().run_in_executor(thread, self._disconnect)
            thread.shutdown(wait=True)

    def _transact(
        self,
        begin: str,
        work: Callable[[sqlite3.Connection], T],
        after: Callable[[sqlite3.Connection], None],
    ) -> T:
        try:
            if self._connection is not None and not self._is_at_path():
                log.warning("%s was removed or replaced; opening what is there now.", self._path)
                self._disconnect()
            if self._connection is None:
                self._connection = self._connect()
            connection = self._connection
            connection.execute(begin)
            try:
                result = work(connection)
                # A read may have met damage, which a commit would report again.
                connection.execute("COMMIT" if begin == WRITE else "ROLLBACK")
                after(connection)
            except BaseException:
                if connection.in_transaction:  # SQLite has already rolled back after some errors
                    connection.execute("ROLLBACK")
                raise
            if not self._is_at_path():
                raise StoreError(f"{self._path} was removed or replaced while it was used; try again.")
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # SQLite's messages quote the file
            self._disconnect()
            raise error if isinstance(error, StoreError) else StoreError(self._explain(error)) from error
        return result

    def _fold(self, connection: sqlite3.Connection) -> None:
        """Move what was committed from the log into the file itself, so that a copy of the file alone holds
        all that was acknowledged. Where that fails the log still has it."""
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _clean(self, connection: sqlite3.Connection) -> None:
        """Write the file anew, without the remains of rows that were removed or moved, and empty the log."""
        try:
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error as error:
            raise StoreError(f"{REMAINS}: {self._explain(error)}") from error
        if busy:
            raise StoreError(f"{REMAINS}: another program reads {self._path}.")

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # a new one is nobody else's to read
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        check_regular(self._path.stat())
        file = identity(self._path)  # before SQLite opens it: a file exchanged in between is noticed later
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
            connection.execute("PRAGMA schema_version").fetchone()  # the first use in WAL mode makes the log
        except BaseException:
            connection.close()
            raise
        self._opened = [file, identity(self._log_path())]
        return connection

    def _log_path(self) -> Path:
        """SQLite's write-ahead log: until it is folded in, the newest transactions are nowhere else."""
        return Path(os.path.realpath(self._path) + "-wal")

    def _is_at_path(self) -> bool:
        return self._opened == [identity(self._path), identity(self._log_path())]

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        newest = len(self._migrations)
        if version > newest:
            raise StoreError(
                f"{self._path} was written by a newer Muleteer (schema {version}, this one knows {newest}); "
                "update Muleteer or move the file away."
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # an acknowledged note survives a power cut
        connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten
        connection.text_factory = _text
        if version == newest:
            return
        connection.execute("BEGIN IMMEDIATE")
        version = int(
            connection.execute("PRAGMA user_version").fetchone()[0]
        )  # another process may have been first
        for statements in self._migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {max(version, newest)}")
        connection.execute("COMMIT")

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if not self._is_at_path():
                # Into the file it belongs to, wherever that is now. SQLite would leave the log for whatever
                # stands at the path next.
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (sqlite3.Error, OSError) as error:
            log.warning("What %s held was not completed: %s", self._path, error)
        finally:
            connection.close()

    def _explain(self, error: Exception) -> str:
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF  # extended codes keep the plain one in the low byte
        if primary == sqlite3.SQLITE_FULL or (
            primary in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and self._is_disk_full()
        ):
            return self._no_room()
        if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or isinstance(error, MISREAD):
            return f"{self._path} is damaged ({error}); it was left as it is. Restore it or move it away."
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return f"another program keeps {self._path} locked."
        if isinstance(error, OSError):
            if error.errno in NO_ROOM:
                return self._no_room()
            return f"{self._path} cannot be used: {error.strerror or error}."
        return f"{self._path} cannot be used: {error}."

    def _no_room(self) -> str:
        with suppress(OSError):
            disk = os.statvfs(self._path.parent)
            if disk.f_files and not disk.f_favail:  # a file system that does not count them says 0 of 0
                return f"the disk of {self._path} has no room for another file; remove some files."
        return f"the disk of {self._path} is full; free some space."

    def _is_disk_full(self) -> bool:
        """Or out of inodes, or of this user's share. SQLite says so only of some writes; of others it reports
        that they failed, so a file is tried."""
        try:
            if shutil.disk_usage(self._path.parent).free < ROOM:
                return True
            with tempfile.TemporaryFile(dir=self._path.parent, buffering=0) as file:
                file.write(bytes(ROOM))
        except OSError as error:
            return error.errno in NO_ROOM
        return False


def _text(stored: bytes) -> str:
    """A broken character must not hide the rest of its row, nor the other rows."""
    return stored.decode(errors="replace")
