"""This device on the network of the household: open while it is needed, closed while it is not.

A device that belongs to no household opens no port for it and announces none. Knows the port, the connections
and what is announced; not why they are needed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from muleteer.discovery.announced import Announced
from muleteer.discovery.mdns import Discovery
from muleteer.errors import SeatError
from muleteer.seat.link import Address
from muleteer.seat.peers import Peers
from muleteer.settings.seat import SeatSettings

log = logging.getLogger(__name__)


class Network:
    """The port and what is announced of it. `peers` are this device's connections."""

    def __init__(self, settings: SeatSettings, discovery: Discovery, peers: Peers) -> None:
        self._settings, self._discovery, self._peers = settings, discovery, peers
        self.is_open = False
        discovery.follow(self)

    def open(self) -> None:
        """Listen, announce, look for others. What cannot be had is logged."""
        if self.is_open:
            return
        self.is_open = True
        try:
            self._peers.open(self._settings.port)
        except OSError as error:
            log.error("Other devices cannot connect to this one: %s.", error.strerror or error)
        self._discovery.show(household=self._peers.port)

    async def close(self) -> None:
        """Say goodbye and hang up. Harmless when repeated."""
        self.is_open = False
        self._discovery.show(household=0)
        await self._peers.close()

    def announce(self, role: str) -> None:
        """Let the network know of another role."""
        self._discovery.show(role=role)

    def look(self) -> None:
        """Try the members that are announced: there are new ones."""
        for each in self.devices():
            self.announced(each)

    def devices(self) -> list[Announced]:
        """What is announced by others, by id."""
        return self._discovery.devices()

    def problem(self) -> str:
        """Why nothing is found by mDNS; empty when it works."""
        if self._settings.mdns and not (self.is_open and self._peers.port):
            why = "no port is open for it" if self.is_open else "this device belongs to none"
            return f"no household is announced: {why}"
        return self._discovery.problem

    def listens(self) -> None:
        """Raises `SeatError` if others cannot connect."""
        if not self._peers.port:
            raise SeatError("No port can be opened for other devices; see the daemon's log.")

    def places(self, prefix: str) -> list[tuple[Address, str]]:
        """Where devices are announced whose id begins so, and their whole id."""
        found = [each for each in self.devices() if each.id.startswith(prefix)]
        return [(place, each.id) for each in found for place in _places(each)]

    # What discovery tells and asks (`mdns.Follower`)

    def announced(self, told: Announced) -> None:
        if places := _places(told):
            self._peers.found(told.id, places)

    def moved(self, addresses: Sequence[str]) -> None:
        self._peers.moved(addresses)

    def is_wanted(self, device: str) -> bool:
        return self._peers.is_wanted(device)


def _places(told: Announced) -> list[Address]:
    """Where a device says that its household's others can connect; nowhere while it belongs to none."""
    return [Address(host, told.household) for host in told.addresses] if told.household else []
