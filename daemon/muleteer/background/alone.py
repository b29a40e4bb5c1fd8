"""The seat and the inbox of a device that takes no part in a household (`seat.enabled = false`): it drives.

Knows which slots it has begun, in a small file, so that a restart or a clock that was set back repeats none.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from muleteer.durable import write_durably
from muleteer.seat.results import Results
from muleteer.services import Claim, Claimed, Driver, InboxEntry
from muleteer.store.inbox import InboxStore

log = logging.getLogger(__name__)

MOST_SLOTS = 400  # kept for each skill: more than a year of days, some hours of minutes
LARGEST = 1 << 20  # bytes of the file; a hundred skills take half of it
DRIVES = "this device takes no part in a household and does its own background work."


class Alone:
    """Implements `services.Seat` and `services.Inbox`; `device` is this one's id."""

    def __init__(self, folder: Path, device: str) -> None:
        self._path, self._device = folder / "own-slots.json", device
        self._inbox = InboxStore(folder / "inbox.db", device)
        nobody = lambda *_: None  # noqa: E731
        self._results = Results(self._inbox, nobody, nobody, nobody)
        self._slots: dict[str, list[str]] = {}

    async def open(self) -> None:
        """Read what was begun. Raises `OSError` when that cannot be read: nothing may be run twice."""
        try:
            kept = json.loads(await asyncio.to_thread(self._read))
            self._slots = {str(skill): [str(slot) for slot in slots] for skill, slots in kept.items()}
        except FileNotFoundError:
            return
        except (ValueError, TypeError, AttributeError) as error:
            raise OSError(
                f"{self._path} is damaged; remove it, and what was run today may be run again"
            ) from error

    async def close(self) -> None:
        await self._results.close()
        await self._inbox.close()

    async def driver(self) -> Driver:
        return Driver(True, "alone", DRIVES, self._device)

    async def claim(self, skill: str, slot: str, again: bool = False) -> Claimed:
        slots = self._slots.get(skill, [])
        if slot in slots:
            return Claimed(None, f"{skill} at {slot} was begun on this device already.")
        begun = self._slots | {skill: [*slots, slot][-MOST_SLOTS:]}
        await asyncio.to_thread(write_durably, self._path, json.dumps(begun).encode())
        self._slots = begun
        return Claimed(Claim(skill, slot, 0, self._device))

    async def may_finish(self, claim: Claim) -> bool:
        return True

    async def settle(self, claim: Claim, text: str, done: bool = True, private: bool = False) -> None:
        await self._results.write(claim.skill, claim.slot, text, done, private)

    async def entries(self, limit: int = 50, unread: bool = False) -> list[InboxEntry]:
        return await self._inbox.entries(limit, unread)

    async def read(self, ids: Sequence[str]) -> int:
        return await self._inbox.read(ids)

    def _read(self) -> bytes:
        with self._path.open("rb") as file:
            return file.read(LARGEST)
