"""Access tokens: who may use this device over the network. Only what a token's hash is, is kept.

A token is 32 random bytes, so one round of SHA-256 is enough: nobody can try out so many, and there is no
word to guess as in a password. For the same reason finding one by its hash in a table gives nothing away by
the time it takes. Knows rows; not what the scopes allow.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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
WRITE_AFTER = timedelta(hours=1)  # that the last use on disk is behind; a card is not written at each request


@dataclass(frozen=True, slots=True)
class Token:
    """One token but its secret. The times are timezone-aware; `used` is None before the first use."""

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

    async def open(self) -> None:
        """Read them all. A file that cannot be used is told in the log: then nobody may come in."""
        try:
            self._found = await self._database.read(_select)
        except StoreError as error:
            log.error("No token is valid: %s", error)
        self._written = {key: token.used for key, token in self._found.items()}

    async def close(self) -> None:
        """Write down when each was last used, and close the file."""
        if self._writing:
            await asyncio.wait(self._writing)
        behind = {key for key, token in self._found.items() if token.used != self._written.get(key)}
        if behind:
            await self._write_use(behind)
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
        used = Token(token.name, token.scopes, token.made, now)
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
        key, token = _hash(secret), Token(name, frozenset(scopes), self._now())
        row = (name, key, " ".join(sorted(token.scopes)), token.made.isoformat())

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO tokens (name, hash, scopes, made) VALUES (?, ?, ?, ?)", row)

        await self._change(insert, "The token cannot be kept")
        self._found[key], self._written[key] = token, None
        return secret

    async def revoke(self, name: str) -> bool:
        """Whether there was one of this name. Raises `StorageError`; it is still valid then."""
        key = next((key for key, token in self._found.items() if token.name == name), None)
        if key is None:
            return False

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM tokens WHERE hash = ?", (key,))

        await self._change(delete, "It cannot be kept that the token is revoked")
        self._found.pop(key, None)
        self._written.pop(key, None)
        return True

    async def _change(self, work: Callable[[sqlite3.Connection], None], failed: str) -> None:
        try:
            await self._database.write(work)
        except StoreError as error:
            raise StorageError(f"{failed}: {error}") from error

    async def _write_use(self, keys: Iterable[str]) -> None:
        rows = [
            (token.used.isoformat(), key) for key in keys if (token := self._found.get(key)) and token.used
        ]

        def update(connection: sqlite3.Connection) -> None:
            connection.executemany("UPDATE tokens SET used = ? WHERE hash = ?", rows)

        try:
            await self._database.write(update)
        except StoreError as error:
            log.warning("When tokens were last used is not kept: %s", error)


def _select(connection: sqlite3.Connection) -> dict[str, Token]:
    rows = connection.execute("SELECT name, hash, scopes, made, used FROM tokens").fetchall()
    return {
        str(key): Token(
            str(name),
            frozenset(scope for scope in SCOPES if scope in str(scopes).split()),
            datetime.fromisoformat(made),
            datetime.fromisoformat(used) if used else None,
        )
        for name, key, scopes, made, used in rows
    }


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
