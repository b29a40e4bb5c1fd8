"""The driver's seat of this device where an etcd cluster decides: what the daemon, its tools and its people
see.

Stands in for `service.SeatService`. The cluster is the household, so there is nobody to pair with. Knows how
the parts depend on each other; not how the cluster decides (`etcd`).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path

from muleteer.broadcast import Broadcast
from muleteer.errors import MuleteerError, SeatError
from muleteer.seat import claims
from muleteer.seat.claims import State
from muleteer.seat.etcd import EtcdSeat
from muleteer.seat.etcd_client import EtcdClient, EtcdError
from muleteer.seat.identity import load_identity
from muleteer.seat.messages import RoleChange
from muleteer.seat.results import Results
from muleteer.seat.slots import Repeats, lost
from muleteer.services import Claim, Claimed, Driver
from muleteer.settings.seat import SeatSettings
from muleteer.store.database import StoreError
from muleteer.store.inbox import InboxStore, Written

log = logging.getLogger(__name__)

STRAIN_SECONDS = 5.0  # as `service` has it
OFFER_SECONDS = 600.0  # between two offers of the seat: nobody drives for some seconds after each
NO_PAIRING = "An etcd cluster is this device's household: whoever may write there belongs to it."


class EtcdSeatService:
    """From `open` until `close`. Implements `services.Seat`, too."""

    def __init__(self, settings: SeatSettings, state: Path, broadcast: Broadcast) -> None:
        """Raises `OSError`, whose `strerror` is for people, when what must not be forgotten is damaged."""
        self._broadcast, self._me = broadcast, load_identity(state).id
        client = EtcdClient(settings.etcd, str(settings.etcd_ca) if settings.etcd_ca else True)
        self._seat = EtcdSeat(self._me, client, told=self._changed, left=self._was_left)
        self.repeats = Repeats()
        self._tasks: set[asyncio.Task[None]] = set()
        self._inbox = InboxStore(state / "inbox.db", self._me)
        self.results = Results(self._inbox, lambda peer, body: None, lambda body: None, self._arrived)
        self.slots = self
        self.view = self

    async def open(self) -> None:
        """Begin to take part."""
        self._seat.start()

    async def close(self) -> None:
        """Leave the seat, if this device has it."""
        await self._seat.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.results.close()
        await self._inbox.close()

    async def watch(self, strain: Callable[[], Awaitable[str]]) -> None:
        """Offer the seat when this device would rather not drive, and keep it if nobody else takes it; until
        cancelled."""
        loop, offered = asyncio.get_running_loop(), -OFFER_SECONDS
        while True:
            if (reason := await strain()) and self._seat.drives() and loop.time() >= offered + OFFER_SECONDS:
                offered = loop.time()
                await self._seat.give(reason)
            await asyncio.sleep(STRAIN_SECONDS)

    # `services.Seat`

    async def driver(self) -> Driver:
        return await self._seat.driver()

    async def claim(self, skill: str, slot: str, again: bool = False) -> Claimed:
        return await self._seat.claim(skill, slot, again)

    async def may_finish(self, claim: Claim) -> bool:
        return await self._seat.may_finish(claim)

    async def settle(self, claim: Claim, text: str, done: bool = True, private: bool = False) -> None:
        """Raises `OSError` when it is not kept everywhere it should be."""
        try:
            await self._seat.settle(claim, text, done)
        except EtcdError as error:
            raise OSError(f"the etcd cluster does not answer: {error}.") from error
        finally:
            await self.results.write(claim.skill, claim.slot, text, done, private)

    # What people ask

    def report(self) -> dict[str, object]:
        """All of it, as `/v1/seat` has it."""
        seat, here = self._seat, self._seat.drives()
        return {
            "role": seat.role.value,
            "drives": here,
            "driver": {"id": seat.driver_id, "name": seat.driver_id[:8]} if seat.driver_id else None,
            "term": seat.term,
            "reason": f"{seat.reason}.",
            "since_s": round(seat.since_seconds(), 1),
            "device": {"id": self._me, "name": socket.gethostname()},
            "port": None,
            "mdns": "off: the etcd cluster knows who takes part",
            "peers": [],
        }

    def members(self) -> list[dict[str, object]]:
        """Only this device: the cluster does not tell who else takes part."""
        return [{"id": self._me, "name": socket.gethostname(), "here": True, "connected": True}]

    def is_member(self, device: str) -> bool:
        """Only of this device that is known."""
        return device == self._me

    def name_of(self, device: str) -> str:
        """For people."""
        return device[:8]

    async def take(self) -> None:
        """This device shall drive. Raises `SeatError`."""
        try:
            await self._seat.take()
        except EtcdError as error:
            raise SeatError(f"The etcd cluster does not answer: {error}.") from None

    async def give(self) -> None:
        """Another device shall drive. Raises `SeatError` if this one does not."""
        if not self._seat.drives():
            raise SeatError("This device does not drive, so there is nothing to yield.")
        await self._seat.give("a person gave it away")

    async def invite(self) -> dict[str, object]:
        raise SeatError(NO_PAIRING)

    async def join(self, code: str, address: str = "") -> None:
        raise SeatError(NO_PAIRING)

    async def forget(self, device: str) -> str:
        raise SeatError(NO_PAIRING)

    def _was_left(self, left: claims.Claim) -> None:
        task = asyncio.create_task(self._settled(left), name="run that was left")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _settled(self, left: claims.Claim) -> None:
        """Repeat a run that an earlier driver did not end, or tell people that it is lost."""
        try:
            if left.state is State.CLAIMED:
                await self.repeats.repeat(Claim(left.skill, left.slot, left.term, self._me))
            else:
                await self.results.write(left.skill, left.slot, lost(left.skill), False)
        except (EtcdError, MuleteerError, StoreError) as error:
            log.warning("The run of %s at %s that was left: %s", left.skill, left.slot, error)

    def _changed(self, change: RoleChange) -> None:
        self._broadcast.publish("seat.changed", asdict(change))

    def _arrived(self, entry: Written) -> None:
        known = {"device": entry.device[:8], "skill": entry.skill, "slot": entry.slot, "done": entry.done}
        self._broadcast.publish("inbox.new", known | {"id": f"{entry.device}-{entry.serial}"})
