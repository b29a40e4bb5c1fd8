"""Access tokens: who may use this device over the network. Only what a token's hash is, is kept.

A token is 32 random bytes, so one round of SHA-256 is enough: nobody can try out so many, and there is no
word to guess as in a password. For the same reason finding one by its hash in a table gives nothing away by
the time it takes. One that is revoked is cut off before the disk is asked, which may be full. Knows rows; not
what the scopes allow.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from muleteer.errors import RequestError, StorageError
from muleteer.gateway.peer import SCOPES, Scope
from muleteer.store.database import Database, StoreError

log = logging.getLogger(__name__)

MIGRATIONS = (
    (
        """CREATE TABLE tokens (
            name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
            made TEXT NOT NULL, used TEXT)""",
    ),
)
PREFIX = "mule_"  # so that people, and scanners of what was published by mistake, know one
SIZE = 32  # bytes
MOST = 128  # tokens; a household has a handful of clients
LONGEST_SECRET = 128  # characters that are looked at
ID = 16  # hexadecimal digits of the hash: 64 bits tell a few hundred tokens apart for ever
WRITE_AFTER = timedelta(hours=1)  # that the last use on disk is behind; a card is not written at each request
RETRY_SECONDS = 60.0  # until a disk is asked again that did not take what was revoked


@dataclass(frozen=True, slots=True)
class Token:
    """One token but its secret. `id` is of this token alone, while another may have its `name` later. The
    times are timezone-aware; `used` is None before the first use."""

    id: str
    name: str
    scopes: frozenset[Scope]
    made: datetime
    used: datetime | None = None

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "scopes": [scope for scope in SCOPES if scope in self.scopes],
            "made": self.made.isoformat(timespec="seconds"),
            "used": self.used.isoformat(timespec="seconds") if self.used else None,
        }


class Tokens:
    """All tokens of this device. Where the file cannot be used there are none, and none can be made."""

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = Database(path, MIGRATIONS)
        self._now = now
        self._found: dict[str, Token] = {}  # by the hash
        self._written: dict[str, datetime | None] = {}  # the last use that is on disk, by the hash
        self._writing: set[asyncio.Task[None]] = set()
        self._cut: dict[str, str] = {}  # names of what is revoked here and not yet on disk, by the hash
        self._retrying: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read them all. A file that cannot be used is told in the log: then nobody may come in."""
        try:
            self._found = await self._database.read(_select)
        except StoreError as error:
            log.error("No token is valid: %s", error)
        self._written = {key: token.used for key, token in self._found.items()}

    async def close(self) -> None:
        """Write down when each was last used, and close the file."""
        if self._retrying:
            self._retrying.cancel()
            await asyncio.wait({self._retrying})
        if self._writing:
            await asyncio.wait(self._writing)
        behind = {key for key, token in self._found.items() if token.used != self._written.get(key)}
        if behind or self._cut:
            await self._write_use(behind)
        if self._cut:
            log.error("Still on disk, and valid at the next start: the revoked %s.", self._names_of_cut())
        await self._database.close()

    def __iter__(self) -> Iterator[Token]:
        return iter(sorted(self._found.values(), key=lambda token: token.name))

    def named(self, name: str) -> Token | None:
        return next((token for token in self._found.values() if token.name == name), None)

    def find(self, secret: str) -> Token | None:
        """The token with this secret, which counts as used now."""
        if not secret.startswith(PREFIX) or len(secret) > LONGEST_SECRET:
            return None
        key = _hash(secret)
        token = self._found.get(key)
        if token is None:
            return None
        now = self._now()
        used = replace(token, used=now)
        self._found[key] = used
        written = self._written.get(key)
        if written is None or now - written > WRITE_AFTER:
            self._written[key] = now
            task = asyncio.create_task(self._write_use({key}), name="use of a token")
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)
        return used

    async def add(self, name: str, scopes: Iterable[Scope]) -> str:
        """A new token's secret, which is told this once. Raises `RequestError`, `StorageError`."""
        if self.named(name):
            raise RequestError(f"There is a token called {name!r} already; revoke it or choose another name.")
        if len(self._found) >= MOST:
            raise RequestError(f"There are {MOST} tokens already; revoke one that is not used any more.")
        secret = PREFIX + secrets.token_urlsafe(SIZE)
        key = _hash(secret)
        token = Token(_id(key), name, frozenset(scopes), self._now())
        row = (name, key, " ".join(sorted(token.scopes)), token.made.isoformat())

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO tokens (name, hash, scopes, made) VALUES (?, ?, ?, ?)", row)

        try:
            await self._write(insert)
        except StoreError as error:
            raise StorageError(f"The token cannot be kept: {error}") from error
        self._found[key], self._written[key] = token, None
        return secret

    def cut(self, name: str) -> bool:
        """Let a token count no more, from now on; `keep_cut` makes that last. Whether there was one of this
        name, or one whose end is not on disk yet."""
        key = next((key for key, token in self._found.items() if token.name == name), None)
        if key is None:
            return name in self._cut.values()
        self._cut[key] = name
        del self._found[key]
        self._written.pop(key, None)
        return True

    async def keep_cut(self) -> None:
        """Bring on disk what was cut off. Raises `StorageError` where the disk does not take it: then it is
        tried again with each write, and every minute."""
        try:
            await self._write()
        except StoreError as error:
            if not (names := self._names_of_cut()):  # another write took it
                return
            if not self._retrying:
                self._retrying = asyncio.create_task(self._retry(), name="revoked tokens")
            log.error("Revoked until the next start only: %s: %s", names, error)
            raise StorageError(
                f"Cut off now: {names}. But the disk did not take that, and a start of the daemon would make "
                f"it valid again: {error} Then revoke it again."
            ) from error

    async def _retry(self) -> None:
        while self._cut:
            await asyncio.sleep(RETRY_SECONDS)
            try:
                await self._write()
            except StoreError as error:
                log.debug("What is revoked is still not on disk: %s", error)
        self._retrying = None

    def _names_of_cut(self) -> str:
        return ", ".join(sorted(set(self._cut.values())))

    async def _write(self, work: Callable[[sqlite3.Connection], object] = lambda _: None) -> None:
        """Do `work` after what was cut off is removed. Raises `StoreError`."""
        keys = tuple(self._cut)

        def both(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM tokens WHERE hash = ?", [(key,) for key in keys])
            work(connection)

        await self._database.write(both)
        for key in keys:
            self._cut.pop(key, None)

    async def _write_use(self, keys: Iterable[str]) -> None:
        rows = [
            (token.used.isoformat(), key) for key in keys if (token := self._found.get(key)) and token.used
        ]

        def update(connection: sqlite3.Connection) -> None:
            connection.executemany("UPDATE tokens SET used = ? WHERE hash = ?", rows)

        try:
            await self._write(update)
        except StoreError as error:
            log.warning("When tokens were last used is not kept: %s", error)


def _select(connection: sqlite3.Connection) -> dict[str, Token]:
    rows = connection.execute("SELECT name, hash, scopes, made, used FROM tokens").fetchall()
    return {
        str(key): Token(
            _id(str(key)),
            str(name),
            frozenset(scope for scope in SCOPES if scope in str(scopes).split()),
            datetime.fromisoformat(made),
            datetime.fromisoformat(used) if used else None,
        )
        for name, key, scopes, made, used in rows
    }


def _id(key: str) -> str:
    return key[:ID]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
