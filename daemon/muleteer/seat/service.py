"""The driver's seat of this device: what the daemon, its tools and its people see of it.

Puts the parts together: the election on its clock (`machine`), the list of members (`enrolment`), the
connections (`peers`, `network`) and the work that is claimed (`work`, `slots`, `results`). Knows how they
depend on each other; nothing of what is driven.
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
from muleteer.discovery.mdns import Discovery
from muleteer.errors import SeatError
from muleteer.seat import pairing
from muleteer.seat.claims import Settled
from muleteer.seat.codec import message_frame, message_from
from muleteer.seat.enrolment import Enrolling, Enrolment
from muleteer.seat.hearsay import Hearsay
from muleteer.seat.identity import load_identity
from muleteer.seat.link import Address
from muleteer.seat.machine import Machine
from muleteer.seat.membership import Membership
from muleteer.seat.messages import Durable, Message, RoleChange
from muleteer.seat.network import Network
from muleteer.seat.peers import Peers
from muleteer.seat.results import Results
from muleteer.seat.slots import Slots
from muleteer.seat.twins import advice
from muleteer.seat.view import View
from muleteer.seat.wire import Body
from muleteer.seat.work import Work
from muleteer.settings.seat import SeatSettings, split_address
from muleteer.store.claims import ClaimStore
from muleteer.store.inbox import InboxStore, Written
from muleteer.store.votes import keep_vote, read_vote

log = logging.getLogger(__name__)

LOOK_SECONDS = 8.0  # for the device that shows a code; an announcement takes 1.2 s, and half may be lost
STRAIN_SECONDS = 5.0  # a processor heats up in that
GREET_SECONDS = 5.0  # until the driver is heard; it takes a round trip or two, and an election four seconds
LEAVE_SECONDS = 1.0  # for handing over at the end


class SeatService:
    """From `open` until `close`."""

    slots: Slots
    results: Results

    def __init__(
        self, settings: SeatSettings, state: Path, broadcast: Broadcast, discovery: Discovery
    ) -> None:
        """Raises `OSError`, whose `strerror` is for people, when what must not be forgotten is damaged."""
        self._settings, self._broadcast = settings, broadcast
        self.identity = load_identity(state)
        # Who takes no part for now finds its household as it was when it takes part again.
        self._votes = state if settings.enabled else state / "alone"
        self._votes.mkdir(mode=0o700, exist_ok=True)
        self.enrolment = Enrolment(self._votes, self.identity, settings.priority, self._roster_changed)
        durable = self.enrolment.standing(read_vote(self._votes))
        self.machine = Machine(self.identity.id, durable, self)
        static = [Address(*split_address(each)) for each in settings.peers]
        self.peers = Peers(self.identity, self, static)
        self.network = Network(settings, discovery, self.peers)
        self.view = View(self.identity.id, self.machine, self.enrolment, self.peers, self.network)
        self._tasks: set[asyncio.Task[None]] = set()
        self._taking_part = False
        self._turned = asyncio.Event()  # the role has changed
        self._strained = self._ailing = ""  # why it would rather not drive; why it cannot
        self._hearsay = Hearsay(self.enrolment, self._start, self._sent_away)
        self._claims = ClaimStore(state / "claims.db")
        self._inbox = InboxStore(state / "inbox.db", self.identity.id)
        self.results = Results(self._inbox, self.peers.send, self._tell_all, self._arrived)

    async def open(self) -> None:
        """Begin to take part. Raises `OSError` when what was claimed cannot be read."""
        self._work = Work(self.identity.id, self._claims, await self._claims.load(), self)
        self.slots = Slots(self.identity.id, self.view, self._work, self.results)
        self._start(self._work.run(), "background work")
        self._start(self.results.run(), "inbox")
        running = self._start(self.machine.run(), "seat")
        self._parts = {running, self._start(self.enrolment.run(self.machine, self._enrol), "seat enrolment")}
        self._taking_part = True
        self._roster_changed()

    async def leave(self) -> None:
        """Hand the seat over, if this device has it, hang up, and never drive again. What is still running
        may be settled until `close`."""
        if not self._taking_part:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self.machine.ask(lambda now: self.machine.election.give("it is being stopped", now))
        self._taking_part = False
        for task in self._parts:
            task.cancel()
        await asyncio.wait(self._parts)
        self._work.rest()
        await self.network.close()

    async def close(self) -> None:
        """`leave`, and let go of the files."""
        await self.leave()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.results.close()
        await self._claims.close()
        await self._inbox.close()

    async def watch(self, strain: Callable[[], Awaitable[str]]) -> None:
        """Ask now and then whether this device would rather not drive; until cancelled."""
        while True:
            reason = await strain()
            changed, self._strained = bool(reason) != bool(self._strained), reason
            if changed:
                log.info(
                    "This device %s.", f"would rather not drive: {reason}" if reason else "may drive again"
                )
            await self._tell_reluctance()
            await asyncio.sleep(STRAIN_SECONDS)

    async def _tell_reluctance(self) -> None:
        why, election = self._ailing.rstrip(".") or self._strained, self.machine.election
        if self._taking_part and why != election.reluctance:
            await self.machine.ask(lambda now: election.set_reluctance(why, now))

    # What people and background turns ask

    async def take(self) -> None:
        """This device shall drive. Raises `SeatError` if it would not keep the seat, `StorageError`."""
        election = self.machine.election
        follows = election.driver not in ("", self.identity.id) and election.driver_is_willing
        if follows and election.reluctance:
            name = self.view.name_of(election.driver)
            raise SeatError(f"This device would hand the seat back to {name} at once: {election.reluctance}.")
        await self.machine.tell(self.machine.election.take)

    async def give(self) -> None:
        """Another device shall drive. Raises `SeatError` if this one does not, `StorageError`."""
        if not self.machine.drives():
            raise SeatError(
                f"This device does not drive, so there is nothing to yield: {self.view.now().reason}"
            )
        await self.machine.tell(lambda now: self.machine.election.give("a person gave it away", now))

    # The household

    async def invite(self) -> dict[str, object]:
        """Show a code. Raises `SeatError` if no port can be opened."""
        self._check_enabled()
        self.network.open()
        self.network.listens()
        shown = self.enrolment.invite()
        self._start(self._expire(shown), "seat invitation")
        return {"code": shown.code, "seconds": pairing.CODE_SECONDS, "port": self.peers.port}

    async def join(self, code: str, address: str = "") -> None:
        """Become a member of the household of the device that shows the code. Raises `SeatError`."""
        self._check_enabled()
        if self.enrolment.others():
            raise SeatError(
                "This device belongs to a household with other devices already; take it out first: "
                f"muleteer seat forget {self.identity.id[:8]}"
            )
        prefix, code = pairing.read_code(code)
        try:
            place = Address(*split_address(address)) if address else None
        except ValueError as error:
            raise SeatError(f"{error}.") from None
        self.network.open()
        try:
            await self._ask_in(prefix, code, place)
        finally:
            await self._close_unless_needed()
        log.info("This device has joined a household of %d.", len(self.enrolment.others()) + 1)
        with contextlib.suppress(TimeoutError):  # who joined hears who drives
            async with asyncio.timeout(GREET_SECONDS):
                while not self.machine.standing.driver:
                    self._turned.clear()
                    await self._turned.wait()

    async def _ask_in(self, prefix: str, code: str, given: Address | None) -> None:
        loop = asyncio.get_running_loop()
        tried: set[Address] = set()
        until = loop.time() + LOOK_SECONDS
        while True:
            places = [(given, "")] if given else self.network.places(prefix)
            for place, device in places:
                if place not in tried:
                    tried.add(place)
                    if (streams := await self.peers.visit(place)) is None:
                        continue
                    shown, reader, writer = streams
                    try:
                        if shown.id.startswith(prefix) and device in ("", shown.id):
                            await self.enrolment.join(shown.id, code, (reader, writer), self._adopt)
                            self.peers.found(shown.id, [place], alone=True)
                            return
                    finally:
                        writer.transport.abort()
            if given or loop.time() > until:
                raise SeatError(
                    "The device that shows this code cannot be found on the network; is it on, and is the "
                    "code still shown? With --address HOST it is asked directly."
                )
            await asyncio.sleep(0.3)

    async def forget(self, device: str) -> str:
        """Send a device away, or leave; returns its name. Raises `SeatError`."""
        gone = self.enrolment.forget(device)
        self._tell_all(self.enrolment.told())
        if gone.id == self.identity.id:
            await self._leave()
        else:
            self._roster_changed()
        return gone.name or gone.id[:8]

    def _sent_away(self) -> None:
        self._start(self._leave(), "leaving of the household")

    async def _leave(self) -> None:
        """This device belongs to no household any more."""
        await self.machine.ask(lambda now: self.machine.election.give("it leaves the household", now))
        self.enrolment.leave()
        await self._adopt(self.enrolment.born())
        await self.network.close()
        log.info("This device belongs to no household any more.")

    # What the parts tell and ask (`machine.Surroundings`, `peers.Owner`, `work.Surroundings`)

    def keep(self, durable: Durable) -> None:
        keep_vote(self._votes, durable)

    def send(self, message: Message) -> None:
        log.debug("says %s", message)
        send = self.peers.beat if message.is_beat else self.peers.send
        send(message.target, message_frame(message))

    def changed(self, change: RoleChange) -> None:
        log.info("%s", self.view.named(change.line()))
        self._turned.set()
        self._broadcast.publish("seat.changed", asdict(self.view.now()))
        self.enrolment.look()
        self.network.announce(change.role.value)

    def warned(self, warning: str) -> None:
        log.warning("Seat: %s", self.view.named(warning))

    def linked(self, peer: str) -> None:
        log.info("Connected with %s.", self.enrolment.name_of(peer))
        self.peers.send(peer, self.peers.here())
        self.peers.send(peer, self.enrolment.told())
        self.results.linked(peer)

    def lost(self, peer: str, reason: str) -> None:
        log.info("No connection with %s any more: %s.", self.enrolment.name_of(peer), reason)

    def sent_away(self, peer: str) -> None:
        if self.enrolment.roster:
            log.warning(
                "%s says that this device was taken out of the household.", self.enrolment.name_of(peer)
            )
            self._start(self._leave(), "leaving of the household")

    def doubled(self, device: str) -> None:
        said = advice(device)
        log.error("%s.", said[0].upper() + said[1:])

    def heard(self, peer: str, body: Body) -> None:
        """Raises `ValueError` for what is no frame of ours."""
        if "e" in body:
            message = message_from(body, peer, self.identity.id)
            log.debug("hears %s", message)
            self.machine.heard(message)
        elif "c" in body:
            self._work.heard(peer, body)
        elif body.get("k") in ("have", "entry"):
            self.results.heard(peer, body)
        elif body.get("k") == "here":
            self.peers.shows(peer, body)
            self._meet(peer, int(body.get("port", 0)))
        elif body.get("k") == "met":
            self.peers.found(str(body.get("id")), [Address(str(body.get("host")), int(body.get("port", 0)))])
        elif body.get("k") == "roster":
            self._hearsay.hear(peer, body)

    def _meet(self, peer: str, port: int) -> None:
        """A member has connected, and listens at that port: it and the others shall find each other."""
        self.peers.meet(peer, port)
        for one, other in [(peer, each) for each in self.peers.links] + [
            (each, peer) for each in self.peers.links
        ]:
            if one != other and (place := self.peers.place(one)):
                self.peers.send(other, {"k": "met", "id": one, "host": place.host, "port": place.port})

    def stepped(self) -> None:
        election = self.machine.election
        if election.driver == self.identity.id:
            self._work.driving(election.term, election.membership)
        else:
            self._work.rest()

    def ticks(self) -> int:
        return self.machine.now()

    def term(self) -> int:
        return self.machine.election.term

    def say(self, peer: str, body: Mapping[str, object]) -> None:
        self.peers.send(peer, body)

    def left(self, settled: Settled) -> None:
        self._start(self.slots.left(settled), "repeating of a run that was left")

    def ails(self, reason: str) -> None:
        said = f"leaves the driving to others: {reason}" if reason else "may drive again."
        log.warning("This device %s", said)
        self._ailing = reason
        self._start(self._hand_over(reason), "handing over")

    async def _hand_over(self, reason: str) -> None:
        """Rather any other device than this one, while it can keep nothing."""
        await self._tell_reluctance()
        if reason and self._taking_part and self.enrolment.others():
            await self.machine.ask(lambda now: self.machine.election.give(reason.rstrip("."), now))

    def _arrived(self, entry: Written) -> None:
        known = {"device": self.enrolment.name_of(entry.device), "skill": entry.skill, "slot": entry.slot}
        self._broadcast.publish(
            "inbox.new", known | {"id": f"{entry.device}-{entry.serial}", "done": entry.done}
        )

    async def newcomer(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.enrolment.let_in(host, reader, writer, self.machine.election.membership)

    # Inside

    def _roster_changed(self) -> None:
        if self.enrolment.others():
            self.network.open()
        self.peers.trust(self.enrolment.roster)
        self.network.look()
        self._tell_all(self.enrolment.told())
        self.enrolment.look()

    def _tell_all(self, body: Mapping[str, object]) -> None:
        for peer in list(self.peers.links):
            self.peers.send(peer, body)

    async def _enrol(self, wanted: Enrolling) -> None:
        membership = self.machine.election.membership
        newcomer = next((each.id for each in wanted if each.id not in membership.ids), "")
        await self._work.share(newcomer, membership.step(wanted))
        await self.machine.ask(lambda now: self.machine.election.change(wanted, now))

    async def _adopt(self, membership: Membership) -> None:
        await self.machine.ask(lambda now: self.machine.election.adopt(membership, now))

    def _check_enabled(self) -> None:
        if not self._settings.enabled:
            raise SeatError("This device takes part in no household: seat.enabled is false in the settings.")

    async def _close_unless_needed(self) -> None:
        if not self.enrolment.others() and self.enrolment.invitation is None:
            await self.network.close()

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
        task.add_done_callback(lambda _: work.close())  # which has not begun, if this was stopped at once
        return task
