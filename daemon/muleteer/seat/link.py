"""One connection between two members: frames in both directions, numbered, within limits.

TLS authenticates every byte and refuses what was recorded elsewhere; the numbers make a frame that is lost,
doubled or out of order within a connection an error of its own. Knows what a peer may take. Does not know
what frames mean, nor how the connection came to be.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from muleteer.allowance import Allowance
from muleteer.seat.wire import BadFrameError, Body, encode, read_frame

log = logging.getLogger(__name__)

UNSENT = 512 << 10  # bytes waiting for a peer that does not read; some full frames, then it is cut off
FRAMES = 100.0  # a second from one peer, for good; heartbeats are two
BURST = 2000.0  # frames at once: everything in an inbox and some claims
UNACKNOWLEDGED = 4000  # milliseconds until the kernel gives up a connection whose bytes nobody acknowledges
THIN_LINEAR_TIMEOUTS = 16  # tcp(7): resend at a steady pace at first, as these rare short frames want


class BrokenLinkError(Exception):
    """The connection ended; `str(error)` is a clause that says why."""


class Address(NamedTuple):
    """Where a device may listen: an IP address and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Link:
    """A connection to the member `peer`, at `address`, that was `dialed` from here or from there. This device
    is at `local` in it."""

    def __init__(
        self,
        peer: str,
        address: Address,
        dialed: bool,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.peer, self.address, self.dialed = peer, address, dialed
        self.local = str(writer.get_extra_info("sockname")[0]).removeprefix("::ffff:")
        self.remote: tuple[str | int, ...] = writer.get_extra_info("peername")
        self._reader, self._writer = reader, writer
        self._sent = self._received = 0
        self._loop = asyncio.get_running_loop()
        self._allowed = Allowance.of(FRAMES, BURST, self._loop.time())
        self.since = self.heard = self._loop.time()
        self.reason = ""

    def welcomed(self) -> None:
        """The peer's first frame, its greeting, was read before this object was made."""
        self._received = 1

    def send(self, body: Mapping[str, object]) -> bool:
        """Whether it is on its way. Never waits: who does not read is cut off."""
        transport = self._writer.transport
        if transport.is_closing():
            return False
        if transport.get_write_buffer_size() > UNSENT:
            self.cut("it does not read what it is sent")
            return False
        self._sent += 1
        self._writer.write(encode(body, self._sent))
        return True

    async def frames(self) -> AsyncIterator[Body]:
        """What the peer sends, until the connection ends: raises `BrokenLinkError`."""
        try:
            while True:
                body = await read_frame(self._reader, self._received + 1)
                self._received += 1
                if not self.noted():
                    raise BadFrameError("there are too many of them")
                yield body
        except BadFrameError as error:
            self.cut(f"a frame of it cannot be taken: {error}")
            raise BrokenLinkError(self.reason) from error
        except (OSError, EOFError) as error:
            raise BrokenLinkError(self.reason or "the connection ended") from error

    def noted(self) -> bool:
        """Something of the peer has come; whether it may send so much."""
        self.heard = self._loop.time()
        return self._allowed.take(self.heard)

    def cut(self, reason: str) -> None:
        """End it at once, whatever was still to be sent. The first reason counts."""
        self.reason = self.reason or reason
        self._writer.transport.abort()

    async def close(self) -> None:
        """End it when what was sent is on its way, or after a moment."""
        self.reason = self.reason or "it was closed here"
        self._writer.close()
        try:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(0.5):
                    await self._writer.wait_closed()
        finally:
            self._writer.transport.abort()  # the end of TLS would wait for the other side


def tune(sock: socket.socket) -> None:
    """For rare short frames that must arrive soon, and for noticing that nobody is there any more."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)
    with contextlib.suppress(OSError):  # a kernel without it resends ever more slowly
        sock.setsockopt(socket.IPPROTO_TCP, THIN_LINEAR_TIMEOUTS, 1)
    sock.setblocking(False)
