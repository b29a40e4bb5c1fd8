"""The driver's seat of this device: what the daemon, its tools and its people see of it.

Puts the parts together: the election on its clock (`machine`), the list of members (`enrolment`), the
connections (`peers`) and where to look for them (`discovery`). A device that belongs to no household opens no
port and announces nothing, until somebody wants it to let another one in or to join. Knows how they depend on
each other; nothing of what is driven.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from muleteer.broadcast import Broadcast
from muleteer.errors import SeatError
from muleteer.seat import pairing
from muleteer.seat.codec import message_frame, message_from
from muleteer.seat.discovery import Announced, Discovery
from muleteer.seat.enrolment import Enrolling, Enrolment
from muleteer.seat.identity import load_identity
from muleteer.seat.link import Address
from muleteer.seat.machine import Machine
from muleteer.seat.membership import Membership
from muleteer.seat.messages import Durable, Message, Role, RoleChange
from muleteer.seat.peers import Peers
from muleteer.seat.wire import Body
from muleteer.services import Driver
from muleteer.settings.seat import SeatSettings, split_address
from muleteer.store.votes import keep_vote, read_vote

log = logging.getLogger(__name__)

LOOK_SECONDS = 8.0  # for the device that shows a code; an announcement takes 1.2 s, and half may be lost
LISTEN_SECONDS = 2.0  # for announcements, on a device that does not listen all the time
STRAIN_SECONDS = 5.0  # a processor heats up in that
LEAVE_SECONDS = 1.0  # for handing over at the end
WORDS = {
    Role.ALONE: "this device drives, and no other answers",
    Role.DRIVER: "this device drives",
    Role.FOLLOWER: "another device drives",
    Role.CANDIDATE: "nobody drives; this device asks for the seat",
    Role.NO_MAJORITY: "nobody can drive: too few devices of the household answer",
}


class SeatService:
    """From `open` until `close`. Implements `services.Seat`, but for claims."""

    def __init__(self, settings: SeatSettings, state: Path, broadcast: Broadcast) -> None:
        """Raises `OSError`, whose `strerror` is for people, when what must not be forgotten is damaged."""
        self._settings, self._state, self._broadcast = settings, state, broadcast
        self.identity = load_identity(state)
        self.enrolment = Enrolment(state, self.identity, settings.priority, self._roster_changed)
        durable = read_vote(state) or Durable(self.enrolment.born())
        self.machine = Machine(self.identity.id, durable, self)
        static = [Address(*split_address(each)) for each in settings.peers]
        self.peers = Peers(self.identity, self, static)
        self.discovery: Discovery | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._network = False

    async def open(self) -> None:
        """Begin to take part."""
        self._start(self.machine.run(), "seat")
        self._start(self.enrolment.run(self.machine, self._enrol), "seat enrolment")
        self._roster_changed()

    async def close(self) -> None:
        """Hand the seat over, if this device has it, and hang up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self.machine.ask(lambda now: self.machine.election.give("it is being stopped", now))
        await self.peers.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def watch(self, strain: Callable[[], Awaitable[str]]) -> None:
        """Ask now and then whether this device would rather not drive; until cancelled."""
        before = ""
        while True:
            reason = await strain()
            if bool(reason) != bool(before):
                log.info(
                    "This device %s.", f"would rather not drive: {reason}" if reason else "may drive again"
                )
                await self._set_willing(not reason)
            before = reason
            await asyncio.sleep(STRAIN_SECONDS)

    async def _set_willing(self, willing: bool) -> None:
        await self.machine.ask(lambda now: self.machine.election.set_willing(willing, now))

    # What people and background turns ask

    @property
    def here(self) -> bool:
        """Whether this device may do the household's work, now."""
        return self.machine.drives()

    async def driver(self) -> Driver:
        """Who drives, as far as this device knows."""
        return self.now()

    def now(self) -> Driver:
        """As `driver`, at once."""
        election, here = self.machine.election, self.machine.drives()
        name = self.enrolment.name_of(election.driver) if election.driver else ""
        said = WORDS[election.role]
        if election.role is Role.FOLLOWER:
            said = f"{name} drives" if name else "no driver is known yet"
        reason = f"{said}: {self.named(election.reason)}."
        return Driver(here, election.role.value, reason, election.driver, name, election.term)

    def report(self) -> dict[str, object]:
        """All of it, as `/v1/seat` has it."""
        election, now = self.machine.election, self.now()
        loop = asyncio.get_running_loop()
        peers = []
        for each in self.enrolment.others():
            link = self.peers.links.get(each.id)
            peers.append(
                {
                    "id": each.id,
                    "name": self.enrolment.name_of(each.id),
                    "connected": link is not None,
                    "address": link.address.host if link else None,
                    "last_contact_s": round(loop.time() - link.heard, 2) if link else None,
                    "enrolled": each.id in election.membership.ids,
                }
            )
        since = (self.machine.now() - election.since) * 0.01
        return {
            "role": now.role,
            "drives": now.here,
            "driver": {"id": now.device, "name": now.name} if now.device else None,
            "term": now.term,
            "reason": now.reason,
            "since_s": round(since, 1),
            "device": {"id": self.identity.id, "name": self.enrolment.name_of(self.identity.id)},
            "port": self.peers.port,
            "mdns": self._mdns(),
            "peers": peers,
        }

    def _mdns(self) -> str:
        if not self._settings.mdns:
            return "off by seat.mdns"
        return (
            "off: this device belongs to no household" if self.discovery is None else self.discovery.problem
        )

    async def take(self) -> None:
        """This device shall drive."""
        await self.machine.ask(self.machine.election.take)

    async def give(self) -> None:
        """Another device shall drive. Raises `SeatError` if this one does not."""
        if not self.machine.drives():
            raise SeatError(f"This device does not drive, so there is nothing to yield: {self.now().reason}")
        await self.machine.ask(lambda now: self.machine.election.give("a person gave it away", now))

    # The household

    def members(self) -> list[dict[str, object]]:
        """Every device of the household, this one included."""
        links = self.peers.links
        return [
            {
                "id": each.id,
                "name": each.name,
                "here": each.id == self.identity.id,
                "connected": each.id in links,
            }
            for each in self.enrolment.roster or ()
        ]

    async def devices(self) -> dict[str, object]:
        """What is announced on the network, by anybody; looks for a moment if it has not been looking."""
        before = self._network
        self._open_network()
        if not before:
            await asyncio.sleep(LISTEN_SECONDS)
        found = sorted(self.discovery.devices.values(), key=lambda each: each.id) if self.discovery else []
        now = asyncio.get_running_loop().time()
        listed = [
            {
                "id": each.id,
                "name": self.enrolment.name_of(each.id),
                "member": bool(self.enrolment.roster and self.enrolment.roster.get(each.id)),
                "role": each.role,
                "protocol": each.protocol,
                "addresses": list(each.addresses),
                "port": each.port,
                "announced_s": round(now - each.seen, 1),
            }
            for each in found
        ]
        problem = self._mdns()
        await self._close_unless_needed()
        return {"devices": listed, "mdns": problem}

    async def invite(self) -> dict[str, object]:
        """Show a code. Raises `SeatError` if no port can be opened."""
        self._open_network()
        if not self.peers.port:
            raise SeatError("No port can be opened for the other device; see the daemon's log.")
        shown = self.enrolment.invite()
        self._start(self._expire(shown), "seat invitation")
        return {"code": shown.code, "seconds": pairing.CODE_SECONDS, "port": self.peers.port}

    async def join(self, code: str, address: str = "") -> None:
        """Become a member of the household of the device that shows the code. Raises `SeatError`."""
        if self.enrolment.others():
            raise SeatError(
                "This device belongs to a household with other devices already; take it out first: "
                f"muleteer seat forget {self.identity.id[:8]}"
            )
        prefix, code = pairing.read_code(code)
        self._open_network()
        try:
            membership = await self._ask_in(prefix, code, address)
        finally:
            await self._close_unless_needed()
        await self.machine.ask(lambda now: self.machine.election.adopt(membership, now))
        log.info("This device has joined a household of %d.", len(self.enrolment.others()) + 1)

    async def _ask_in(self, prefix: str, code: str, address: str) -> Membership:
        loop = asyncio.get_running_loop()
        tried: set[Address] = set()
        until = loop.time() + LOOK_SECONDS
        while True:
            places = [(Address(*split_address(address)), "")] if address else self._places(prefix)
            for place, device in places:
                if place not in tried:
                    tried.add(place)
                    if (streams := await self.peers.visit(place)) is None:
                        continue
                    shown, reader, writer = streams
                    try:
                        if shown.id.startswith(prefix) and device in ("", shown.id):
                            membership = await self.enrolment.join(shown.id, code, reader, writer)
                            self.peers.found(shown.id, [place])
                            return membership
                    finally:
                        writer.transport.abort()
            if address or loop.time() > until:
                raise SeatError(
                    "The device that shows this code cannot be found on the network; is it on, and is the "
                    "code still shown? With --address HOST it is asked directly."
                )
            await asyncio.sleep(0.3)

    def _places(self, prefix: str) -> list[tuple[Address, str]]:
        devices = self.discovery.devices.values() if self.discovery else ()
        return [
            (Address(host, each.port), each.id)
            for each in devices
            if each.id.startswith(prefix)
            for host in each.addresses
        ]

    async def forget(self, device: str) -> str:
        """Send a device away, or leave; returns its name. Raises `SeatError`."""
        gone = self.enrolment.forget(device)
        self._tell_all(self.enrolment.told())
        if gone.id == self.identity.id:
            await self._leave()
        else:
            self._roster_changed()
        return gone.name or gone.id[:8]

    async def _leave(self) -> None:
        """This device belongs to no household any more."""
        await self.machine.ask(lambda now: self.machine.election.give("it leaves the household", now))
        self.enrolment.leave()
        alone = self.enrolment.born()
        await self.machine.ask(lambda now: self.machine.election.adopt(alone, now))
        await self._close_network()
        log.info("This device belongs to no household any more.")

    # What the parts tell (`machine.Surroundings`, `peers.Owner`)

    def keep(self, durable: Durable) -> None:
        keep_vote(self._state, durable)

    def send(self, message: Message) -> None:
        self.peers.send(message.target, message_frame(message))

    def changed(self, change: RoleChange) -> None:
        log.info("%s", self.named(change.line()))
        self._broadcast.publish("seat.changed", asdict(self.now()))
        self.enrolment.look()
        if self.discovery:
            self.discovery.announce(change.role.value)

    def warned(self, warning: str) -> None:
        log.warning("Seat: %s", self.named(warning))

    def linked(self, peer: str) -> None:
        log.info("Connected with %s.", self.enrolment.name_of(peer))
        self.peers.send(peer, {"k": "here", "port": self.peers.port})
        self.peers.send(peer, self.enrolment.told())

    def lost(self, peer: str, reason: str) -> None:
        log.info("No connection with %s any more: %s.", self.enrolment.name_of(peer), reason)

    def heard(self, peer: str, body: Body) -> None:
        """Raises `ValueError` for what is no frame of ours."""
        if "e" in body:
            self.machine.heard(message_from(body, peer, self.identity.id))
        elif body.get("k") == "here":
            self.peers.meet(peer, int(body.get("port", 0)))
        elif body.get("k") == "roster" and not self.enrolment.hear(peer, body):
            self._start(self._leave(), "leaving of the household")

    async def newcomer(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.enrolment.let_in(host, reader, writer, self.machine.election.membership)

    def named(self, text: str) -> str:
        """A sentence with names for ids."""
        for each in self.machine.election.membership.ids:
            text = text.replace(each, self.enrolment.name_of(each))
        return text

    # Inside

    def _roster_changed(self) -> None:
        if self.enrolment.others():
            self._open_network()
        self.peers.trust(self.enrolment.roster)
        for each in self.discovery.devices.values() if self.discovery else ():
            self._announced(each)
        self._tell_all(self.enrolment.told())
        self.enrolment.look()

    def _tell_all(self, body: Mapping[str, object]) -> None:
        for peer in list(self.peers.links):
            self.peers.send(peer, body)

    async def _enrol(self, wanted: Enrolling) -> None:
        await self.machine.ask(lambda now: self.machine.election.change(wanted, now))

    def _open_network(self) -> None:
        if self._network:
            return
        self._network = True
        try:
            self.peers.open(self._settings.port)
        except OSError as error:
            log.error("Other devices cannot connect to this one: %s.", error.strerror or error)
        if self._settings.mdns and self.peers.port:
            self.discovery = Discovery(self.identity.id, self.peers.port, self._announced)
            self.discovery.announce(self.machine.election.role.value)
            self._discovering = self._start(self.discovery.run(), "seat discovery")

    async def _close_unless_needed(self) -> None:
        if not self.enrolment.others() and self.enrolment.invitation is None:
            await self._close_network()

    async def _close_network(self) -> None:
        if not self._network:
            return
        self._network = False
        if self.discovery:
            self._discovering.cancel()
            await asyncio.wait({self._discovering})
            self.discovery = None
        await self.peers.close()

    def _announced(self, told: Announced) -> None:
        self.peers.found(told.id, [Address(host, told.port) for host in told.addresses])

    async def _expire(self, shown: pairing.Invitation) -> None:
        await asyncio.sleep(pairing.CODE_SECONDS)
        if self.enrolment.invitation is shown:
            self.enrolment.invitation = None
            await self._close_unless_needed()

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        async def run() -> None:
            try:
                await work
            except Exception:
                log.exception("The %s has failed; the daemon goes on without it.", name)

        task = asyncio.create_task(run(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
