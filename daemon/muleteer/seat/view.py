"""What people are told of the seat: who drives and why, and who belongs to the household.

Reads the parts and changes nothing.
"""

from __future__ import annotations

import asyncio

from muleteer.seat.enrolment import Enrolment
from muleteer.seat.machine import Machine
from muleteer.seat.messages import Role
from muleteer.seat.network import Network
from muleteer.seat.peers import Peers
from muleteer.seat.timing import TICK_SECONDS
from muleteer.seat.twins import advice
from muleteer.services import Driver

WORDS = {
    Role.ALONE: "this device drives, and no other answers",
    Role.DRIVER: "this device drives",
    Role.FOLLOWER: "another device drives",
    Role.CANDIDATE: "nobody drives; this device asks for the seat",
    Role.NO_MAJORITY: "nobody can drive: too few devices of the household answer",
}


class View:
    """The seat as the device `me` sees it."""

    def __init__(
        self, me: str, machine: Machine, enrolment: Enrolment, peers: Peers, network: Network
    ) -> None:
        self._me, self._machine, self._enrolment = me, machine, enrolment
        self._peers, self._network = peers, network

    def now(self) -> Driver:
        """Who drives, as far as this device knows."""
        standing, here = self._machine.standing, self._machine.drives()
        name = self._enrolment.name_of(standing.driver) if standing.driver else ""
        said = WORDS[standing.role]
        if standing.role is Role.FOLLOWER:
            said = f"{name} drives" if name else "no driver is known yet"
        why = self.named(standing.reason)
        reason = f"{said}." if why == said else f"{said}: {why}."
        if here and (why := self._machine.election.reluctance):
            reason = f"{reason[:-1]}; it would rather not: {why}."
        if trouble := self._machine.trouble:
            reason = f"this device takes no part while it cannot keep its vote: {trouble}."
        if self._peers.is_refused:
            here, reason = False, f"this device takes no part: {advice(self._me)}."
        return Driver(here, standing.role.value, reason, standing.driver, name, standing.term)

    def report(self) -> dict[str, object]:
        """All of it, as `/v1/seat` has it."""
        election, now = self._machine.election, self.now()
        loop = asyncio.get_running_loop()
        peers = []
        for each in self._enrolment.others():
            link = self._peers.links.get(each.id)
            peers.append(
                {
                    "id": each.id,
                    "name": self._enrolment.name_of(each.id),
                    "connected": link is not None,
                    "address": link.address.host if link else None,
                    "last_contact_s": round(loop.time() - link.heard, 2) if link else None,
                    "doubled": self._peers.is_doubled(each.id),
                    "enrolled": each.id in election.membership.ids,
                }
            )
        since = (self._machine.now() - self._machine.standing.since) * TICK_SECONDS
        return {
            "role": now.role,
            "drives": now.here,
            "driver": {"id": now.device, "name": now.name} if now.device else None,
            "term": now.term,
            "reason": now.reason,
            "since_s": round(since, 1),
            "device": {"id": self._me, "name": self._enrolment.name_of(self._me)},
            "port": self._peers.port,
            "mdns": self._network.problem(),
            "doubled": [f"{advice(each)}." for each in self._doubled()],
            "peers": peers,
        }

    def _doubled(self) -> list[str]:
        """The ids that two devices have."""
        others = [each.id for each in self._enrolment.others() if self._peers.is_doubled(each.id)]
        return [self._me, *others] if self._peers.is_refused else others

    def members(self) -> list[dict[str, object]]:
        """Every device of the household, this one included."""
        links = self._peers.links
        return [
            {
                "id": each.id,
                "name": each.name,
                "here": each.id == self._me,
                "connected": each.id in links,
            }
            for each in self._enrolment.roster or ()
        ]

    def is_member(self, device: str) -> bool:
        """Whether it belongs to the household."""
        return bool(self._enrolment.roster and self._enrolment.roster.get(device))

    def name_of(self, device: str) -> str:
        """For people."""
        return self._enrolment.name_of(device)

    def named(self, text: str) -> str:
        """A sentence with names for ids."""
        for each in self._machine.election.membership.ids:
            text = text.replace(each, self.name_of(each))
        return text
