"""Heartbeats as datagrams: half the bytes of a connection's, which acknowledges each of them.

Only for what may be lost: an election repeats a heartbeat that was not answered. Each datagram is sealed with
a key that its receiver has drawn for one connection and told over it, and is counted, so that nobody else can
read, write or repeat one. Where they do not arrive, as behind a firewall, the connection carries what they
would have. Knows keys and addresses; not what it carries.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from muleteer.seat.link import Link
from muleteer.seat.wire import BadFrameError, Body

log = logging.getLogger(__name__)

KEY, ID, COUNT = 32, 4, 4  # bytes; a count lasts 270 years of heartbeats
NONCE_REST = bytes(12 - COUNT)
LARGEST = 512  # bytes of a datagram; a heartbeat's has about 40
AT_ONCE = 16  # datagrams read before others have their turn
PROBE_SECONDS = 10.0  # between tries while none has come through

Arrived = Callable[[Link, bytes], None]


@dataclass(slots=True)
class _Way:
    """To the other end of one connection, and from there. `silent`: nothing has come since the last was
    sent."""

    link: Link
    opening: ChaCha20Poly1305
    read: int = 0
    sealing: ChaCha20Poly1305 | None = None
    number: bytes = b""
    place: tuple[str | int, ...] = ()
    sent: int = 0
    silent: bool = True
    probe_at: float = 0.0


class Beats:
    """Whatever comes in is told to `arrived`. Without a port (`open`) nothing is sent by datagram."""

    def __init__(self, arrived: Arrived) -> None:
        self._arrived = arrived
        self._socket: socket.socket | None = None
        self._ways: dict[bytes, _Way] = {}

    def open(self, port: int) -> None:
        """Listen at `port`, which may be taken: then heartbeats go over connections."""
        both = socket.has_dualstack_ipv6()
        sock = socket.socket(socket.AF_INET6 if both else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sock.setblocking(False)
            if both:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            sock.bind(("::" if both else "0.0.0.0", port))  # noqa: S104 (a LAN service)
        except OSError as error:
            sock.close()
            log.warning("No datagrams at port %d: %s; heartbeats cost more.", port, error.strerror or error)
            return
        self._socket = sock
        asyncio.get_running_loop().add_reader(sock.fileno(), self._come, sock)

    def close(self) -> None:
        """Harmless when repeated."""
        if self._socket:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
        self._socket = None
        self._ways.clear()

    def invite(self, link: Link) -> Body:
        """The frame that tells the other end how to send datagrams to here."""
        number, key = secrets.token_bytes(ID), secrets.token_bytes(KEY)
        port = self._socket.getsockname()[1] if self._socket else 0
        self._ways[number] = _Way(link, ChaCha20Poly1305(key))
        return {"k": "beat", "id": number.hex(), "key": key.hex(), "port": port}

    def invited(self, link: Link, body: Body) -> None:
        """Such a frame has come. Raises `BadFrameError` for what is none."""
        try:
            number, key = bytes.fromhex(body["id"]), bytes.fromhex(body["key"])
            port = int(body["port"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadFrameError("it is no invitation to send datagrams") from error
        if len(number) != ID or len(key) != KEY or not 0 <= port < 65536:
            raise BadFrameError("it is no invitation to send datagrams")
        if port and (way := self._of(link)):
            way.sealing, way.number, way.place = ChaCha20Poly1305(key), number, self._place(link, port)

    def drop(self, link: Link) -> None:
        """The connection has ended, and its keys with it."""
        self._ways = {number: way for number, way in self._ways.items() if way.link is not link}

    def send(self, link: Link, content: bytes) -> bool:
        """Whether a datagram alone will do: they come through both ways, as far as is known."""
        way = self._of(link)
        now = asyncio.get_running_loop().time()
        if not way or not way.sealing or not self._socket or (way.silent and now < way.probe_at):
            return False
        known, way.silent, way.probe_at = not way.silent, True, now + PROBE_SECONDS
        way.sent += 1
        count = way.sent.to_bytes(COUNT, "big")
        sealed = way.sealing.encrypt(count + NONCE_REST, content, way.number)
        try:
            self._socket.sendto(way.number + count + sealed, way.place)
        except OSError as error:
            log.debug("no datagram to %s: %s", link.peer[:8], error)
            return False
        return known

    def _of(self, link: Link) -> _Way | None:
        return next((way for way in self._ways.values() if way.link is link), None)

    def _place(self, link: Link, port: int) -> tuple[str | int, ...]:
        """The address of the other end for our socket, with the port where it takes datagrams."""
        host, _, *scope = link.remote
        plain = str(host).removeprefix("::ffff:")
        if self._socket and self._socket.family == socket.AF_INET:
            return plain, port
        return (f"::ffff:{plain}" if "." in plain else plain), port, *scope

    def _come(self, sock: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                datagram = sock.recv(LARGEST)
            except OSError:  # there is none, or one of ours was refused somewhere
                return
            if way := self._ways.get(datagram[:ID]):
                self._take(way, datagram)

    def _take(self, way: _Way, datagram: bytes) -> None:
        head, sealed = datagram[: ID + COUNT], datagram[ID + COUNT :]
        number, count = head[:ID], head[ID:]
        try:
            content = way.opening.decrypt(count + NONCE_REST, sealed, number)
        except (InvalidTag, ValueError):
            return  # from somebody who has not the key
        if (read := int.from_bytes(count, "big")) > way.read and way.link.noted():
            way.read, way.silent = read, False
            self._arrived(way.link, content)
