"""What comes of a connection on TCP, with TLS or without: how many handshakes at once, and that each ends.

Who is too many does not wait: the oldest handshake makes room, first one of the same address. Knows sockets;
what is served on a connection is its protocol's business.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Callable
from functools import partial

from muleteer.accepting import Accepting

log = logging.getLogger(__name__)

MOST_HANDSHAKES = 64  # at once, each some 100 kB for its time
MOST_FROM_ONE = 16  # of them from one address; a page opens six connections
HANDSHAKE_SECONDS = 5.0  # a handshake takes 50 ms on a board; with half the packets lost, seconds
GOODBYE_SECONDS = 2.0  # for the other side to close its half of TLS
UNACKNOWLEDGED = 30_000  # milliseconds until the kernel gives up a connection whose bytes nobody acknowledges
# tcp(7): a silent connection is looked at after so many seconds, every so many, and so often in vain.
KEEP_IDLE, KEEP_INTERVAL, KEEP_COUNT = 60, 10, 3


class Acceptor:
    """Accepts from `listen` until `close`. `protocol` makes what each connection is served by."""

    def __init__(self, protocol: Callable[[], asyncio.Protocol], tls: ssl.SSLContext | None) -> None:
        self._protocol, self._tls = protocol, tls
        self._accepting = Accepting(self._came)
        self._handshakes: dict[asyncio.Task[None], str] = {}  # oldest first, with the addresses

    def listen(self, sock: socket.socket) -> None:
        """Accept on a listening socket that does not block, and then belongs to this."""
        self._accepting.listen(sock)

    def close(self) -> None:
        """Accept no more, and end handshakes. Harmless when repeated."""
        self._accepting.close()
        for task in self._handshakes if self._tls else ():
            task.cancel()  # without TLS they end by themselves, and uvloop would forget `connection_lost`

    async def closed(self) -> None:
        """`close`, and return when the handshakes have ended."""
        self.close()
        if self._handshakes:
            await asyncio.wait(self._handshakes)

    def _came(self, sock: socket.socket, host: str) -> None:
        tune(sock)
        if self._tls:
            self._make_room(host)
        task = asyncio.create_task(self._greet(sock), name="gateway handshake")
        self._handshakes[task] = host
        task.add_done_callback(partial(self._greeted, sock))

    def _make_room(self, host: str) -> None:
        going = [task for task in self._handshakes if not task.cancelling()]
        same = [task for task in going if self._handshakes[task] == host]
        if len(same) >= MOST_FROM_ONE:
            same[0].cancel()
        elif len(going) >= MOST_HANDSHAKES:
            going[0].cancel()

    async def _greet(self, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        if self._tls is None:
            await loop.connect_accepted_socket(self._protocol, sock)
            return
        await loop.connect_accepted_socket(
            self._protocol,
            sock,
            ssl=self._tls,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
            ssl_shutdown_timeout=GOODBYE_SECONDS,
        )

    def _greeted(self, sock: socket.socket, task: asyncio.Task[None]) -> None:
        del self._handshakes[task]
        if task.cancelled() or task.exception():
            sock.close()
            log.debug("A connection did not come about: %s.", None if task.cancelled() else task.exception())


def tune(sock: socket.socket) -> None:
    """For answers that come piece by piece, and for noticing that nobody is there any more."""
    with contextlib.suppress(OSError):  # the caller may be gone already
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEP_IDLE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEP_INTERVAL)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, KEEP_COUNT)
