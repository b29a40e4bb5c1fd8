"""Who belongs to the household, as this device sees to it: the list, letting in, joining, sending away.

The list of trusted devices (`Roster`) spreads from any member to any other; who takes part in elections
(`Membership`) is changed by the driver alone, one device at a time, towards that list. Knows both; does not
know how frames travel.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from muleteer.errors import SeatError, StorageError
from muleteer.seat import pairing
from muleteer.seat.election import Election
from muleteer.seat.identity import Identity
from muleteer.seat.machine import Machine
from muleteer.seat.membership import Membership, Voter
from muleteer.seat.messages import Durable
from muleteer.seat.pairing import Invitation
from muleteer.seat.roster import (
    FILE_NAME,
    LONGEST_NAME,
    MOST_ENTRIES,
    Member,
    Roster,
    RosterFullError,
    joined_roster,
    leave_household,
    load_roster,
    new_roster,
)
from muleteer.store.votes import membership_fields, membership_from

log = logging.getLogger(__name__)

Fields = Mapping[str, object]
Enrolling = tuple[Voter, ...]
MOST_TOLD = 8  # refusals in the log, a code; strangers may bring about any number
MOST_ASKING, MOST_FROM_ONE = 8, 2  # newcomers at once, and of them from one address: a stranger may be silent
RETRY_SECONDS = 1.0  # until the driver tries again to enrol a device that could not be enrolled


def own_name() -> str:
    """What people call this device; two may have the same name."""
    return "".join(each for each in socket.gethostname() if each.isprintable())[:LONGEST_NAME]


class Enrolment:
    """The household of one device. `changed` is called whenever the list is another one."""

    def __init__(self, folder: Path, identity: Identity, priority: int, changed: Callable[[], None]) -> None:
        self._folder, self._identity, self._changed = folder, identity, changed
        self.roster: Roster | None = self._own(load_roster(folder))
        self.invitation: Invitation | None = None
        self._asking: Counter[str] = Counter()  # newcomers, by address
        self._told = 0  # of them that were refused, since the code is shown
        self._entering = ""  # who has been handed the household, and may not have kept it yet
        self._priorities = {identity.id: priority}
        self._news = asyncio.Event()

    def _own(self, roster: Roster | None) -> Roster | None:
        """Raises `OSError` for the list of a household to which this device belonged under another id or
        key: nobody there knows it any more."""
        us = (self._identity.id, self._identity.public)
        if roster is None or us in {(each.id, each.key) for each in roster.entries()}:
            return roster
        raise OSError(
            errno.EINVAL,
            f"{self._folder / FILE_NAME} is that of a device with another id or key than this one has now; "
            "restore device-id and device-key, or remove that file, start Muleteer again and join again",
        )

    @property
    def me(self) -> str:
        return self._identity.id

    def name_of(self, device: str) -> str:
        """For people: the name, and the beginning of the id where two have the same."""
        member = self.roster.get(device) if self.roster else None
        name = member.name if member else own_name() if device == self.me else ""
        same = sum(each.name == name for each in self.roster or ())
        return name if name and same < 2 else f"{name} ({device[:8]})".strip()

    def others(self) -> list[Member]:
        """The members but this device."""
        return [each for each in self.roster or () if each.id != self.me]

    def born(self) -> Membership:
        """What this device takes part in without a household."""
        return Membership.alone(Voter(self.me, self._priorities[self.me]))

    def standing(self, kept: Durable | None) -> Durable:
        """What this device takes part with, from what it has kept. Raises `OSError` when it has forgotten its
        vote: it might vote again."""
        if self.roster is None or not self.others():
            alone = kept is not None and kept.membership.ids == (self.me,)
            return kept if kept and alone else Durable(self.born(), kept.term if kept else 0)
        if kept is None:
            raise OSError(
                errno.ENOENT,
                "the file of its vote is missing; let another device forget this one (muleteer seat forget), "
                f"remove {self._folder / FILE_NAME}, and join again",
            )
        return kept

    # Spreading the list

    def told(self) -> dict[str, object]:
        """The frame that tells another member who belongs to the household, and how much this device wants
        to drive."""
        entries = [asdict(each) for each in self.roster.entries()] if self.roster else []
        return {"k": "roster", "members": entries, "priority": self._priorities[self.me]}

    def hear(self, peer: str, body: Fields) -> bool:
        """Take over another member's list. Whether this device is one of the household still. Raises
        `ValueError` for what is no list, `OSError` when it cannot be kept."""
        listed, priority = body.get("members"), body.get("priority")
        if not isinstance(listed, list) or len(listed) > MOST_ENTRIES or not isinstance(priority, int):
            raise ValueError("it is no list of members")
        self._priorities[peer] = max(-100, min(100, priority))
        entries = [Member(**each) for each in listed if isinstance(each, dict)]
        self._news.set()
        if self.roster is None or not self.roster.merge(entries):
            return True
        if self.roster.get(self.me) is None:
            return False
        self._changed()
        return True

    # Letting in

    def invite(self) -> Invitation:
        """A new code, which replaces one that is still shown."""
        self.invitation = pairing.new_invitation(self.me, asyncio.get_running_loop().time())
        self._told = 0
        return self.invitation

    async def let_in(
        self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, membership: Membership
    ) -> None:
        """Answer a newcomer. Several may ask at the same time; one is let in."""
        shown = self.invitation
        now = asyncio.get_running_loop().time()
        busy = self._asking.total() >= MOST_ASKING or self._asking[host] >= MOST_FROM_ONE
        if busy or shown is None or shown.until < now or not shown.tries:
            writer.write(pairing.refusal("no code is shown there now; run `muleteer seat join` on it"))
            return
        self._asking[host] += 1
        admitted: list[str] = []

        def admit(device: str, key: str, name: str) -> Roster:
            if self.invitation is not shown or self._entering:
                raise SeatError("The code lets in one device, and another one was first.")
            admitted.append(device)
            return self._admit(device, key, name)

        try:
            fields = membership_fields(membership)
            name = await pairing.let_in(reader, writer, shown, self.me, admit, fields)
        except (SeatError, RosterFullError, OSError) as error:
            level = logging.WARNING if self._told < MOST_TOLD else logging.DEBUG
            self._told += 1
            log.log(level, "A device at %s was not let in (%d more tries): %s", host, shown.tries, error)
            writer.write(pairing.refusal("the code is wrong or was used up, or it cannot be kept"))
            return
        finally:
            self._asking[host] -= 1
            self._asking += Counter()  # without those at zero
            if admitted:
                self._entering = ""
        log.info("%s has joined the household.", name)
        if self.invitation is shown:
            self.invitation = None
        self._news.set()
        self._changed()

    def _admit(self, device: str, key: str, name: str) -> Roster:
        if self.roster is None:
            self.roster = new_roster(self._folder, self.me, self._identity.public, own_name())
        self._entering = device
        self.roster.add(device, key, name)
        return self.roster

    # Joining and leaving

    async def join(
        self,
        member: str,
        code: str,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        adopt: Callable[[Membership], Awaitable[None]],
    ) -> None:
        """Ask the device `member`, and belong to its household. Raises `SeatError`, `StorageError`.

        The election goes first: a device that stops in between is alone again (`standing`).
        """
        newcomer = Member(self.me, self._identity.public, own_name())
        handed = await pairing.ask_in(*streams, code, member, newcomer)
        try:
            await adopt(membership_from(handed.enrolled))
            self.roster = joined_roster(self._folder, handed.household_key, handed.members)
        except (ValueError, TypeError) as error:
            raise SeatError("The other device hands over no household; is its Muleteer newer?") from error
        except OSError as error:
            await adopt(self.born())
            raise StorageError(f"The household cannot be kept: {error.strerror}.") from error
        self._changed()

    def forget(self, device: str) -> Member:
        """Send a member away, by its id or the beginning of it, or by its name. Raises `SeatError`,
        `StorageError`."""
        found = [m for m in self.roster or () if device and (m.id.startswith(device) or m.name == device)]
        if len(found) != 1 or self.roster is None:
            which = "No device" if not found else "More than one device"
            raise SeatError(f"{which} of the household is called {device!r}; see `muleteer seat members`.")
        try:
            gone = self.roster.forget(found[0].id)
        except OSError as error:
            raise StorageError(f"It cannot be kept that the device is gone: {error.strerror}.") from error
        self._news.set()
        return gone or found[0]

    def leave(self) -> None:
        """Belong to no household any more. Raises `OSError`."""
        leave_household(self._folder)
        self.roster = None
        self._changed()

    # Who takes part in elections

    async def run(self, machine: Machine, ask: Callable[[Enrolling], Awaitable[None]]) -> None:
        """Bring those who are enrolled in line with the list, when this device drives; until cancelled."""
        said = ""
        while True:
            wanted = self._next(machine.election)
            try:
                if wanted is not None:
                    await ask(wanted)
                    said = ""
            except ValueError as error:
                if str(error) != said:
                    log.debug("not enrolled yet: %s", error)
                said = str(error)
            self._news.clear()
            waiting = self._next(machine.election) is not None
            try:
                async with asyncio.timeout(RETRY_SECONDS if waiting else None):
                    await self._news.wait()
            except TimeoutError:
                pass

    def look(self) -> None:
        """Something has changed that may let this device enrol others."""
        self._news.set()

    def _next(self, election: Election) -> Enrolling | None:
        """The members with the next difference to the list made good; None if there is none, or this device
        does not drive. Who is entering is enrolled when it has hung up: then it has kept what it was handed.
        """
        present = election.membership
        if election.driver != self.me or self.me not in present.ids:
            return None
        trusted = {each.id for each in self.others()} | {self.me}
        for device in present.ids:
            if device not in trusted:
                return present.without(device)
        known = {each.id: each for each in present.voters}
        for device in sorted(trusted - {self._entering}):
            old = known.get(device)
            priority = self._priorities.get(device, old.priority if old else 0)
            if old is None or old.priority != priority:
                return present.with_voter(Voter(device, priority))
        return None
