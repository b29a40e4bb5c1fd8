"""This device on the network of the household: open while it is needed, closed while it is not.

A device that belongs to no household opens no port and announces nothing. Knows the port, the connections and
mDNS; not why they are needed.
"""

from __future__ import annotations

import asyncio
import logging

from muleteer.errors import SeatError
from muleteer.seat.discovery import Announced, Discovery
from muleteer.seat.link import Address
from muleteer.seat.peers import Peers
from muleteer.settings.seat import SeatSettings

log = logging.getLogger(__name__)


class Network:
    """The port and the announcements of the device `me`. `peers` are its connections."""

    def __init__(self, settings: SeatSettings, me: str, peers: Peers) -> None:
        self._settings, self._me, self._peers = settings, me, peers
        self._discovery: Discovery | None = None
        self._discovering: asyncio.Task[None] | None = None
        self._role = "alone"
        self.is_open = False

    def open(self) -> None:
        """Listen, announce, look for others. What cannot be had is logged."""
        if self.is_open:
            return
        self.is_open = True
        try:
            self._peers.open(self._settings.port)
        except OSError as error:
            log.error("Other devices cannot connect to this one: %s.", error.strerror or error)
        if self._settings.mdns and self._peers.port:
            tell = (self._announced, self._peers.moved, self._peers.is_wanted)
            self._discovery = Discovery(self._me, self._peers.port, *tell)
            self._discovery.announce(self._role)
            self._discovering = asyncio.create_task(self._discover(self._discovery), name="seat discovery")

    async def close(self) -> None:
        """Say goodbye and hang up. Harmless when repeated."""
        self.is_open = False
        self._discovery = None
        if self._discovering:
            self._discovering.cancel()
            await asyncio.wait({self._discovering})
            self._discovering = None
        await self._peers.close()

    def announce(self, role: str) -> None:
        """Let the network know of another role."""
        self._role = role
        if self._discovery:
            self._discovery.announce(role)

    def look(self) -> None:
        """Try the members that are announced: there are new ones."""
        for each in self.devices():
            self._announced(each)

    def devices(self) -> list[Announced]:
        """What is announced by others, by id."""
        found = self._discovery.devices.values() if self._discovery else ()
        return sorted(found, key=lambda each: each.id)

    def problem(self) -> str:
        """Why nothing is found by mDNS; empty when it works."""
        if not self._settings.mdns:
            return "off by seat.mdns"
        if self._discovery is None:
            return "off: no port is open" if self.is_open else "off: this device belongs to no household"
        return self._discovery.problem

    def listens(self) -> None:
        """Raises `SeatError` if others cannot connect."""
        if not self._peers.port:
            raise SeatError("No port can be opened for other devices; see the daemon's log.")

    def places(self, prefix: str) -> list[tuple[Address, str]]:
        """Where devices are announced whose id begins so, and their whole id."""
        found = [each for each in self.devices() if each.id.startswith(prefix)]
        return [(Address(host, each.port), each.id) for each in found for host in each.addresses]

    async def _discover(self, discovery: Discovery) -> None:
        try:
            await discovery.run()
        except Exception:
            log.exception("Discovery by mDNS has failed; seat.peers in the settings works without it.")

    def _announced(self, told: Announced) -> None:
        self._peers.found(told.id, [Address(host, told.port) for host in told.addresses])
