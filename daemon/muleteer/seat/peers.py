"""The connections to all other members: one each, made again whenever it is lost.

Of two devices the one with the lower id dials; the other one does so, too, when nothing has come for a while,
since it may be the only one that knows where the first is. A newer connection replaces an older one, which
may be dead without knowing. Knows who is a member and where members may be; not what they say.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import socket
import ssl
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from muleteer.seat.beats import Beats
from muleteer.seat.door import Door
from muleteer.seat.identity import Identity
from muleteer.seat.link import Address, BrokenLinkError, Link, tune
from muleteer.seat.roster import Member, Roster
from muleteer.seat.secured import Streams, secured
from muleteer.seat.trust import Contexts, Shown, contexts, joining_context, shown_by, vouched
from muleteer.seat.twins import Twins, new_start
from muleteer.seat.wire import BadFrameError, Body, encode, read_frame

log = logging.getLogger(__name__)

PROTOCOL = 1  # version of what members say to each other
CONNECT_SECONDS = 0.8  # to one address; a LAN needs a millisecond, and the next try is soon
HANDSHAKE_SECONDS = 5.0
HELLO_SECONDS = 3.0  # until the other side has checked who we are and said so
YIELD_SECONDS = 2.0  # the device with the higher id leaves dialing to the other one
SOON, LATER = 0.7, 1.5  # seconds between tries, some 100 bytes each: for a while, and then for good
A_WHILE = 600.0  # seconds
REFUSED_SECONDS = 10.0  # a device that is refused as one of two is told so at each try, some seconds apart
LONGEST_START = 32  # characters
MOST_ADDRESSES = 8  # of one member; its interfaces
MISUNDERSTOOD = (ValueError, TypeError, OverflowError)  # `Owner.heard` cannot make anything of it


class Owner(Protocol):
    """Who is told what happens on the connections. None of it may wait, but `newcomer`."""

    def linked(self, peer: str) -> None: ...
    def heard(self, peer: str, body: Body) -> None: ...
    def lost(self, peer: str, reason: str) -> None: ...
    def sent_away(self, peer: str) -> None: ...
    def doubled(self, device: str) -> None: ...
    async def newcomer(
        self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None: ...


class Peers:
    """`static` are addresses to try beside those that `found` tells."""

    def __init__(self, identity: Identity, owner: Owner, static: Sequence[Address] = ()) -> None:
        self._identity, self._owner = identity, owner
        self._static: dict[Address, str] = dict.fromkeys(static, "")  # and who was found there
        self._found: dict[str, list[Address]] = {}
        self._roster: Roster | None = None
        self._passing = Ed25519PrivateKey.generate()
        self._contexts: Contexts = contexts(identity, None, self._passing)
        self._door = Door(self._contexts.accept, self._accepted, owner.newcomer)
        self._beats = Beats(self._beat_came)
        self.links: dict[str, Link] = {}
        self._dialers: dict[str, asyncio.Task[None]] = {}
        self._wake: dict[str, asyncio.Event] = {}
        self._known_here: set[str] = set()
        self._dropped: set[str] = (
            set()
        )  # to be dialed at once: a second device of this id may have taken over
        self._parting: set[asyncio.Task[None]] = set()
        self._unknown: set[str] = set()
        self._twins = Twins()
        self._start = new_start()
        self._refused_at: float | None = None

    @property
    def port(self) -> int:
        """Where this device listens; 0 if it does not."""
        return self._door.port

    def open(self, port: int) -> None:
        """Let others connect. Raises `OSError`."""
        self._door.open(port)
        self._beats.open(self.port)

    async def close(self) -> None:
        """Say goodbye to nobody, hang up on all."""
        await self._end(self._dialers)
        await asyncio.gather(*(link.close() for link in list(self.links.values())))
        self._beats.close()
        await self._door.close()

    def trust(self, roster: Roster | None) -> None:
        """From now on these are the members, whom to talk to and nobody else."""
        self._roster = roster
        self._contexts = contexts(self._identity, roster.key if roster else None, self._passing)
        self._door.context = self._contexts.accept
        members = {member.id for member in roster or ()} - {self._identity.id}
        for peer in list(self.links):
            if peer not in members:
                self._part(self.links[peer])
        for peer in self._dialers.keys() - members:
            self._dialers.pop(peer).cancel()
            self._wake.pop(peer, None)
            self._found.pop(peer, None)
        for peer in members - self._dialers.keys():
            self._wake[peer] = asyncio.Event()
            self._dialers[peer] = asyncio.create_task(self._keep(peer), name="seat dialing")

    def _part(self, link: Link) -> None:
        """Hang up on one that is no member any more, once it was told."""
        link.reason = "it is no member any more"
        task = asyncio.create_task(link.close(), name="seat parting")
        self._parting.add(task)
        task.add_done_callback(self._parting.discard)

    def found(self, device: str, addresses: Iterable[Address], alone: bool = False) -> None:
        """A member may be there; it is tried at once. Devices that are no members are ignored. `alone`: only
        this device knows, so the other one cannot dial."""
        if device in self._dialers:
            (self._known_here.add if alone else self._known_here.discard)(device)
            met = self._found.get(device, [])[:1]  # the one that has worked: what is announced may be a lie
            self._found[device] = list(dict.fromkeys([*addresses, *met]))[:MOST_ADDRESSES]
            self._wake[device].set()

    def meet(self, peer: str, port: int) -> None:
        """A connected member listens at this port of the address it has now: tried first when it is lost."""
        if (link := self.links.get(peer)) and 0 < port < 65536:
            known = [each for each in self._found.get(peer, ()) if each != (link.address.host, port)]
            self._found[peer] = [Address(link.address.host, port), *known][:MOST_ADDRESSES]

    @property
    def is_refused(self) -> bool:
        """Whether a member says that this device's id is that of a second one, too."""
        now = asyncio.get_running_loop().time()
        return self._refused_at is not None and now - self._refused_at < REFUSED_SECONDS

    def is_doubled(self, device: str) -> bool:
        """Whether two devices have this member's id, so that neither is talked to."""
        return self._twins.refuses(device, asyncio.get_running_loop().time())

    def here(self) -> dict[str, object]:
        """The frame that tells a member which start of this device it talks to, and where it listens."""
        return {"k": "here", "port": self.port, "start": self._start}

    def shows(self, peer: str, body: Body) -> None:
        """Such a frame has come."""
        start = body.get("start")
        if not isinstance(start, str) or not 0 < len(start) <= LONGEST_START:
            return  # of an older version
        if self._twins.shows(peer, start, asyncio.get_running_loop().time()):
            self._owner.doubled(peer)
        if self.is_doubled(peer) and (link := self.links.get(peer)):
            link.cut("two devices have its id")

    def is_wanted(self, device: str) -> bool:
        """Whether it is a member."""
        return device in self._dialers

    def moved(self, addresses: Collection[str]) -> None:
        """This device has these IPv4 addresses now: connections at others are dead."""
        for link in list(self.links.values()):
            if "." in link.local and link.local not in addresses:
                link.cut("this device has another address now")

    def place(self, peer: str) -> Address | None:
        """Where a member was last met or found."""
        return next(iter(self._found.get(peer, ())), None)

    def send(self, peer: str, body: Mapping[str, object]) -> bool:
        """Whether there is a connection that takes it."""
        link = self.links.get(peer)
        return link is not None and link.send(body)

    def beat(self, peer: str, body: Mapping[str, bytes]) -> bool:
        """Send a packed message (`codec`) that may be lost, for fewer bytes where that goes."""
        link = self.links.get(peer)
        return link is not None and (self._beats.send(link, body["e"]) or link.send(body))

    async def visit(
        self, address: Address
    ) -> tuple[Shown, asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A connection for joining with whoever listens at `address`, and who it says it is."""
        if (streams := await _secure(address, joining_context())) is None:
            return None
        certificate = streams[1].get_extra_info("ssl_object").getpeercert(binary_form=True)
        if shown := shown_by(certificate) if certificate else None:
            return shown, *streams
        streams[1].transport.abort()
        return None

    def _member(self, shown: Shown | None) -> Member | None:
        """The member that was shown, if its key is the one on the list."""
        member = self._roster.get(shown.id) if self._roster and shown else None
        if member and shown and member.key == shown.key and member.id != self._identity.id:
            return member
        name = shown.id[:8] if shown else "without a certificate"
        level = logging.DEBUG if name in self._unknown or len(self._unknown) > 64 else logging.WARNING
        self._unknown.add(name)
        log.log(level, "A device that is no member any more, or not yet, was refused: %s.", name)
        return None

    async def _accepted(
        self, shown: Shown, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self._roster and self._roster.was_sent_away(shown.id, shown.key):
            writer.write(encode(self._hello(gone=1), 1))  # it has not heard of it
            await Link(shown.id, Address(host, 0), False, reader, writer).close()
        elif (member := self._member(shown)) and self.is_doubled(member.id):
            await self._turn_away(member.id, reader, writer)
        elif member:
            link = Link(member.id, Address(host, 0), False, reader, writer)
            link.send(self._hello())
            await self._serve(link)

    def _hello(self, **more: object) -> dict[str, object]:
        """What a member that connects hears first."""
        return {"k": "hello", "v": PROTOCOL, **self._contexts.greeting, **more}

    async def _turn_away(
        self, device: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Tell one of two with the same id, and hear which of them it is."""
        writer.write(encode(self._hello(twin=1), 1))
        with contextlib.suppress(OSError, EOFError, TimeoutError, BadFrameError):
            async with asyncio.timeout(HELLO_SECONDS):
                self.shows(device, await read_frame(reader, 1))

    async def _serve(self, link: Link) -> None:
        """Read what a connection brings, until it ends."""
        before = self.links.get(link.peer)
        self.links[link.peer] = link
        if before:
            before.cut("a newer connection took its place")
        log.debug("connected with %s at %s", link.peer[:8], link.address)
        link.send(self._beats.invite(link))
        if before is None:
            self._owner.linked(link.peer)
        try:
            async for body in link.frames():
                if body.get("k") == "beat":
                    self._beats.invited(link, body)
                else:
                    self._owner.heard(link.peer, body)
        except BrokenLinkError as error:
            log.debug("connection with %s lost: %s", link.peer[:8], error)
        except MISUNDERSTOOD as error:
            link.cut(f"a frame of it cannot be understood: {error}")
        finally:
            link.cut("it was closed here")
            self._beats.drop(link)
            if self.links.get(link.peer) is link:
                del self.links[link.peer]
                self._owner.lost(link.peer, link.reason)
                self._hurry(link)

    def _beat_came(self, link: Link, content: bytes) -> None:
        try:
            self._owner.heard(link.peer, {"e": content})
        except MISUNDERSTOOD as error:
            link.cut(f"a datagram of it cannot be understood: {error}")

    def _hurry(self, link: Link) -> None:
        """Dial at once who was connected for a while."""
        if (wake := self._wake.get(link.peer)) and asyncio.get_running_loop().time() - link.since > SOON:
            self._dropped.add(link.peer)
            wake.set()

    async def _keep(self, peer: str) -> None:
        """Dial `peer` for as long as it is a member."""
        loop, wake = asyncio.get_running_loop(), self._wake[peer]
        patient = YIELD_SECONDS if self._identity.id > peer else 0.0
        missed_since = loop.time()
        while True:
            wake.clear()
            turn = peer in self._known_here or peer in self._dropped or loop.time() - missed_since >= patient
            turn = turn and not self.is_doubled(peer)
            self._dropped.discard(peer)
            for address in self._candidates(peer) if turn else ():
                link = None if peer in self.links else await self._dial(address)
                if link and patient and link.peer in self.links:
                    link.cut("it has dialled meanwhile")
                elif link:
                    await self._serve(link)
                    missed_since = loop.time()
            if peer in self.links:
                missed_since = loop.time()
            pause = SOON if loop.time() - missed_since < A_WHILE else LATER
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * random.uniform(0.8, 1.2)):  # noqa: S311 (no secret)
                    await wake.wait()

    def _candidates(self, peer: str) -> Iterator[Address]:
        """Where it was found, and where nobody knows yet who is there."""
        yield from list(self._found.get(peer, ()))
        yield from [address for address, who in self._static.items() if who in ("", peer)]

    async def _dial(self, address: Address) -> Link | None:
        """A connection with whichever member is at `address`; None if there is none."""
        if (streams := await _secure(address, self._contexts.connect)) is None:
            return None
        reader, writer = streams
        certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                hello = await read_frame(reader, 1)
        except (OSError, EOFError, TimeoutError, BadFrameError):
            hello = {}
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        member = self._member(vouched(certificate, hello)) if certificate and hello else None
        if member and hello.get("gone"):
            self._owner.sent_away(member.id)
        if member and hello.get("twin"):
            await self._told_of_twin(writer)
        if not member or hello.get("v") != PROTOCOL or hello.get("gone") or hello.get("twin"):
            writer.transport.abort()
            return None
        if address in self._static:
            self._static[address] = member.id
        link = Link(member.id, address, True, reader, writer)
        link.welcomed()
        return link

    async def _told_of_twin(self, writer: asyncio.StreamWriter) -> None:
        if not self.is_refused:
            self._owner.doubled(self._identity.id)
        self._refused_at = asyncio.get_running_loop().time()
        writer.write(encode(self.here(), 1))
        writer.close()
        try:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(HELLO_SECONDS):
                    await writer.wait_closed()
        finally:
            writer.transport.abort()

    async def _end(self, tasks: dict[str, asyncio.Task[None]]) -> None:
        for task in tasks.values():
            task.cancel()
        if tasks:
            await asyncio.wait(tasks.values())
        tasks.clear()


async def _secure(address: Address, context: ssl.SSLContext) -> Streams | None:
    """A TLS connection; None where there is nobody, or nobody of ours."""
    try:
        return await secured(await _connect(address), context, HANDSHAKE_SECONDS, accepted=False)
    except (OSError, ValueError) as error:
        log.debug("nobody of ours at %s: %s", address, str(error) or type(error).__name__)
        return None


async def _connect(address: Address) -> socket.socket:
    """Raises `OSError`."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(CONNECT_SECONDS):
        family, *_, place = (await loop.getaddrinfo(*address, type=socket.SOCK_STREAM))[0]
        if "%" in address.host:  # uvloop forgets the interface when it resolves
            place = (address.host, address.port)
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            tune(sock)
            await loop.sock_connect(sock, place)
        except BaseException:
            sock.close()
            raise
    return sock
