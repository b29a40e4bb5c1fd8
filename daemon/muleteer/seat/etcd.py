"""The seat of a household or fleet that spans networks: an etcd cluster decides who drives, and keeps the
claims.

Who makes the key `seat` drives while the lease it hangs on lives; the revision at which it was made is the
term. A claim is a transaction that holds only if the seat is still that of its term: etcd is the fence. The
driver goes by its own clock: it stops before the cluster can let the lease end. A new driver first settles
what earlier ones have begun and not ended. Implements `services.Seat`.

Does not know the devices' results: those of background turns stay on the device that ran them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

from muleteer.seat.claims import KEEP, Claim, State
from muleteer.seat.etcd_client import EtcdClient, EtcdError, Kept, get, put, remove, was_changed, was_made
from muleteer.seat.messages import Role, RoleChange
from muleteer.seat.timing import DRIFT
from muleteer.services import Claim as Ticket
from muleteer.services import Claimed, Driver

log = logging.getLogger(__name__)

LEASE_SECONDS = 3  # a cluster grants 2 at the least; a driver that was killed is followed within 5
BEAT_SECONDS = 0.5  # between two looks at the seat
MARGIN_SECONDS = 0.2  # before the lease may end, to stop what is being done
SETTLE_SECONDS = 20.0  # a cluster elects its own leader in some seconds
MOST_LEFT = 256  # claims that a new driver looks through, the newest: some days of a household's
YIELD_SECONDS = 5  # one that gave the seat away leaves it to others for as long


class EtcdSeat:
    """This device's part. `prefix` names the household; `told` hears each change of the role, `left` of each
    run that an earlier driver began: it is this device's to repeat (`State.CLAIMED`), or lost."""

    def __init__(
        self,
        me: str,
        client: EtcdClient,
        prefix: str = "/muleteer/",
        told: Callable[[RoleChange], None] = lambda change: None,
        left: Callable[[Claim], None] = lambda claim: None,
    ) -> None:
        self.me, self._client, self._prefix, self._told = me, client, prefix, told
        self.role, self.driver_id, self.term, self.reason = Role.CANDIDATE, "", 0, "it has just started"
        self._lease = ""
        self._until = 0.0
        self._rests_until = 0.0
        self._left, self._settled_in = left, 0  # the term in which what was left was settled
        self._given: set[tuple[int, str]] = set()  # term and key of what was claimed here and may be run
        self._since = _clock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Take part, until `close`."""
        self._task = asyncio.create_task(self._run(), name="seat in etcd")

    async def close(self) -> None:
        """Leave the seat, if this device has it. Idempotent."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
            await self._let_go("it is being stopped")
            await self._client.close()

    def drives(self) -> bool:
        """Whether this device may act for the household at this moment."""
        return self.role is Role.DRIVER and _clock() < self._until

    def since_seconds(self) -> float:
        """How long the role is what it is."""
        return _clock() - self._since

    async def take(self) -> None:
        """A person wants this device to drive. Raises `EtcdError`."""
        lease = await self._client.grant(YIELD_SECONDS)
        await self._client.transact([], [put(self._prefix + "asked", self.me, lease)], [])

    async def give(self, reason: str) -> None:
        """Leave the seat to others."""
        self._rests_until = _clock() + YIELD_SECONDS
        await self._let_go(reason)

    # `services.Seat`

    async def driver(self) -> Driver:
        who = "this device drives" if self.drives() else f"{self.driver_id[:8] or 'nobody'} drives"
        said = f"{who}: {self.reason}."
        return Driver(self.drives(), self.role.value, said, self.driver_id, self.driver_id[:8], self.term)

    async def claim(self, skill: str, slot: str, again: bool = False) -> Claimed:
        if not self.drives():
            return Claimed(None, (await self.driver()).reason)
        asked = self.term, self._key(skill, slot)
        if asked in self._given:
            return Claimed(None, f"{skill} at {slot} was claimed on this device already.")
        self._given = {each for each in self._given if each[0] == self.term} | {asked}
        claimed = await self._claim(Claim(skill, slot, self.term, self.me, again, made=datetime.now(UTC)))
        if claimed.claim is None:
            self._given.discard(asked)
        return claimed

    async def _claim(self, wanted: Claim) -> Claimed:
        skill, slot, key = wanted.skill, wanted.slot, self._key(wanted.skill, wanted.slot)
        try:
            held = await self._write(wanted, was_made(key, 0))
            while held is not None:
                before = _claim(held)
                if self._is_own(before):
                    break
                if before.state is not State.CLAIMED or before.term >= self.term:
                    return Claimed(None, f"{skill} at {slot} is {before.state} on {before.device[:8]}.")
                wanted = _settled(before, wanted)
                held = await self._write(wanted, was_changed(key, held.changed))
        except (EtcdError, LostError) as error:
            return Claimed(None, f"{skill} at {slot} cannot be claimed: {error}.")
        if wanted.state is State.LOST:
            self._left(wanted)
            return Claimed(None, f"{skill} at {slot} was begun by a device that failed.")
        return Claimed(Ticket(skill, slot, self.term, self.me))

    def _is_own(self, before: Claim) -> bool:
        """Whether this device has written it, and a member that then died did not say so: it was given to
        nobody."""
        return (before.state, before.term, before.device) == (State.CLAIMED, self.term, self.me)

    async def may_finish(self, claim: Ticket) -> bool:
        return self.drives() and claim.term == self.term

    async def settle(self, claim: Ticket, text: str, done: bool = True) -> None:
        """Keep how the run ended; tried for a while, because a cluster that loses a member answers nobody for
        some seconds. Raises `EtcdError`."""
        until = _clock() + SETTLE_SECONDS
        while True:
            try:
                return await self._end(claim, State.DONE if done else State.FAILED)
            except EtcdError:
                if _clock() > until:
                    raise
                await asyncio.sleep(BEAT_SECONDS)

    async def _end(self, claim: Ticket, state: State) -> None:
        key = self._key(claim.skill, claim.slot)
        held = (await self._client.read(key)).read[0]
        if held is None or (_claim(held).term, _claim(held).device) != (claim.term, self.me):
            log.warning("The run of %s at %s ended after another device took over.", claim.skill, claim.slot)
            return
        ended = _claim(held).ended(state)
        await self._client.transact([was_changed(key, held.changed)], [await self._put(ended)], [])

    # Claims

    def _key(self, skill: str, slot: str) -> str:
        return f"{self._prefix}claims/{skill}/{slot}"

    async def _put(self, claim: Claim) -> dict[str, object]:
        lease = await self._client.grant(int(KEEP.total_seconds()))
        written = asdict(claim) | {"made": claim.made.isoformat() if claim.made else None}
        return put(self._key(claim.skill, claim.slot), json.dumps(written), lease)

    async def _write(self, claim: Claim, condition: dict[str, object]) -> Kept | None:
        """Keep a claim if the seat is still that of its term; what stood in its way, if anything did."""
        seat, key = self._prefix + "seat", self._key(claim.skill, claim.slot)
        conditions = [was_made(seat, claim.term), condition]
        answer = await self._client.transact(conditions, [await self._put(claim)], [get(seat), get(key)])
        if answer.succeeded:
            return None
        holds, held = answer.read
        if holds is None or holds.made != claim.term or held is None:
            raise LostError("the seat has just changed hands")
        return held

    async def _settle_what_was_left(self) -> None:
        term = self.term
        for held in await self._client.newest(self._prefix + "claims/", MOST_LEFT):
            before = _claim(held)
            if before.state is not State.CLAIMED or before.term >= term:
                continue
            wanted = _settled(before, Claim(before.skill, before.slot, term, self.me, made=before.made))
            key = self._key(before.skill, before.slot)
            now = await self._write(wanted, was_changed(key, held.changed))
            if now is None or self._is_own(_claim(now)):
                self._given.add((term, key))
                self._left(wanted)
        self._settled_in = term

    # The seat

    async def _run(self) -> None:
        while True:
            try:
                await self._look()
                if self.drives() and self._settled_in != self.term:
                    await self._settle_what_was_left()
            except LostError:
                continue  # the next look tells to whom
            except EtcdError as error:
                if not self.drives():
                    self._lease = ""
                    self._turn(Role.NO_MAJORITY, "", 0, "the etcd cluster does not answer")
                    log.debug("etcd: %s", error)
            await asyncio.sleep(BEAT_SECONDS)

    async def _look(self) -> None:
        began = _clock()
        if self._lease and not await self._client.keep_alive(self._lease):
            self._lease = ""
        answer = await self._client.read(self._prefix + "seat", self._prefix + "asked")
        seat, asked = answer.read
        if seat is None:
            await self._try(asked)
        elif seat.value != self.me or not self._lease:
            self._turn(Role.FOLLOWER, seat.value, seat.made, f"{seat.value[:8]} has the seat")
        elif asked is not None and asked.value != self.me:
            await self.give(f"{asked.value[:8]} was told to drive")
        else:
            self._until = began + LEASE_SECONDS * (1 - DRIFT) - MARGIN_SECONDS
            self._turn(Role.DRIVER, self.me, seat.made, "it has the seat")

    async def _try(self, asked: Kept | None) -> None:
        """Nobody drives: make the key, unless others shall."""
        self._turn(Role.CANDIDATE, "", 0, "nobody has the seat")
        rests = _clock() < self._rests_until and (asked is None or asked.value != self.me)
        if rests or (asked is not None and asked.value != self.me):
            return
        began = _clock()
        if not self._lease:
            self._lease = await self._client.grant(LEASE_SECONDS)
        seat = self._prefix + "seat"
        made, wish = put(seat, self.me, self._lease), remove(self._prefix + "asked")
        answer = await self._client.transact([was_made(seat, 0)], [made, wish], [])
        if answer.succeeded:
            self._until = began + LEASE_SECONDS * (1 - DRIFT) - MARGIN_SECONDS
            self._turn(Role.DRIVER, self.me, answer.revision, "nobody had the seat")

    async def _let_go(self, reason: str) -> None:
        lease, self._lease, self._until = self._lease, "", 0.0
        if self.role is Role.DRIVER:
            self._turn(Role.FOLLOWER, "", self.term, reason)
        if lease:
            with contextlib.suppress(EtcdError):  # it ends by itself
                await self._client.revoke(lease)

    def _turn(self, role: Role, driver: str, term: int, reason: str) -> None:
        if (role, driver, term) != (self.role, self.driver_id, self.term):
            self.role, self.driver_id, self.term, self.reason = role, driver, term, reason
            self._since = _clock()
            change = RoleChange(role, term, driver, reason)
            log.info("%s", change.line())
            self._told(change)


class LostError(Exception):
    """The seat is another device's now."""


def _claim(kept: Kept) -> Claim:
    written = json.loads(kept.value)
    made = written.pop("made")
    state = State(written.pop("state"))
    return Claim(**written, state=state, made=datetime.fromisoformat(made) if made else None)


def _settled(before: Claim, wanted: Claim) -> Claim:
    """What the driver writes over a claim that an earlier driver left."""
    if before.repeatable:
        attempt, state = before.attempt + 1, State.CLAIMED
    else:
        attempt, state = before.attempt, State.LOST
    return Claim(
        wanted.skill,
        wanted.slot,
        wanted.term,
        wanted.device,
        before.repeatable,
        state,
        attempt,
        True,
        wanted.made,
    )


def _clock() -> float:
    """Seconds, suspend included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
