"""What background turns came to, on every device: the inbox, and how devices hand each other what they lack.

Two devices tell each other the number of the newest entry they have of each device; whoever has more sends
it, in order. A result that the disk does not take is kept in memory until it does. Knows frames about the
inbox; not who drives.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime

from muleteer.seat.wire import BadFrameError, Body
from muleteer.services import InboxEntry
from muleteer.store.database import StoreError
from muleteer.store.inbox import MOST_DEVICES, InboxStore, Written

log = logging.getLogger(__name__)

MOST_WAITING = 500  # frames, while the disk is slow; those beyond are asked for again
MOST_OWED = 50  # results that are not on disk; a household has a handful a day
OWED_SECONDS = 10.0  # between two tries to write them

Say = Callable[[str, Mapping[str, object]], object]


class Results:
    """The inbox of one device. `say` sends to a peer, `tell` to all; `arrived` is told of each new entry."""

    def __init__(
        self,
        store: InboxStore,
        say: Say,
        tell: Callable[[Mapping[str, object]], None],
        arrived: Callable[[Written], None],
    ) -> None:
        self._store, self._say, self._tell, self._arrived = store, say, tell, arrived
        self._frames: asyncio.Queue[tuple[str, Body]] = asyncio.Queue()
        self._owed: deque[tuple[str, str, str, bool, datetime, bool]] = deque()
        self._paying = asyncio.Lock()
        self._retrying: asyncio.Task[None] | None = None

    async def write(self, skill: str, slot: str, text: str, done: bool, private: bool = False) -> None:
        """A new entry, here now and elsewhere soon; of a `private` one the others learn only that it is
        there. Raises `StoreError` when it is not on disk; it is tried again until it is, or until `close`."""
        self._owed.append((skill, slot, text, done, datetime.now(UTC), private))
        try:
            await self._pay()
        except StoreError as error:
            log.error("What %s came to is not in the inbox yet: %s", skill, error)
            if len(self._owed) > MOST_OWED:
                self._owed.popleft()
            if self._retrying is None or self._retrying.done():
                self._retrying = asyncio.create_task(self._retry(), name="results that are owed")
            raise

    async def close(self) -> None:
        """Try once more to write what is owed."""
        if self._retrying:
            self._retrying.cancel()
            await asyncio.wait([self._retrying])
        try:
            await self._pay()
        except StoreError as error:
            log.error("%d results of background turns are lost: %s", len(self._owed), error)

    async def _retry(self) -> None:
        while self._owed:
            await asyncio.sleep(OWED_SECONDS)
            with suppress(StoreError):
                await self._pay()

    async def _pay(self) -> None:
        """Write what is owed, the oldest first. Raises `StoreError`."""
        async with self._paying:
            while self._owed:
                result = self._owed.popleft()
                try:
                    entry = await self._store.write(*result)
                except StoreError:
                    self._owed.appendleft(result)
                    raise
                self._arrived(entry)
                with suppress(StoreError):  # others ask when they are linked
                    self._tell(await self._have())

    async def entries(self, limit: int = 50, unread: bool = False) -> list[InboxEntry]:
        """As `services.Inbox` has it."""
        return await self._store.entries(limit, unread)

    async def read(self, ids: Sequence[str]) -> int:
        """As `services.Inbox` has it."""
        return await self._store.read(ids)

    def linked(self, peer: str) -> None:
        """A peer is there (again): compare."""
        self._frames.put_nowait((peer, {"k": "compare"}))

    def heard(self, peer: str, body: Body) -> None:
        """A peer says what it has, or hands over an entry."""
        if self._frames.qsize() < MOST_WAITING:
            self._frames.put_nowait((peer, body))

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            peer, body = await self._frames.get()
            try:
                await self._answer(peer, body)
            except (BadFrameError, StoreError, OverflowError) as error:
                log.warning("What a device has sent for the inbox is lost: %s", error)

    async def _answer(self, peer: str, body: Body) -> None:
        if body.get("k") == "compare":
            self._say(peer, await self._have())
        elif body.get("k") == "have":
            await self._compare(peer, _numbers(body.get("have")))
        elif body.get("k") == "entry":
            for entry in await self._store.take([_entry(body.get("entry"))]):
                self._arrived(entry)
            if body.get("last"):
                self._say(peer, await self._have())

    async def _compare(self, peer: str, theirs: Mapping[str, int]) -> None:
        """Hand over what the peer lacks; ask for what it has more."""
        lacking = await self._store.lacking(theirs)
        for entry in lacking:
            last = entry is lacking[-1]
            self._say(peer, {"k": "entry", "entry": asdict(entry)} | ({"last": 1} if last else {}))
        ours = await self._store.have()
        if not lacking and any(serial > ours.get(device, 0) for device, serial in theirs.items()):
            self._say(peer, {"k": "have", "have": ours})

    async def _have(self) -> dict[str, object]:
        return {"k": "have", "have": await self._store.have()}


def _numbers(value: object) -> dict[str, int]:
    if not isinstance(value, dict) or len(value) > MOST_DEVICES:
        raise BadFrameError("it does not say what is there")
    if not all(isinstance(each, int) for each in value.values()):
        raise BadFrameError("a number of it is none")
    return value


def _entry(value: object) -> Written:
    try:
        if not isinstance(value, dict):
            raise TypeError("it is no object")
        return Written(**value)
    except (TypeError, ValueError) as error:
        raise BadFrameError(f"it is no entry: {error}") from error
