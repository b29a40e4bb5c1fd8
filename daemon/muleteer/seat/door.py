"""The port where other devices connect: who may come in, and how many at once.

Everyone may begin a TLS handshake, within limits; a member shows a certificate and is passed on, a newcomer
shows none and says so (`trust.JOIN`), anybody else is hung up on. Knows addresses and handshakes; not the
list of members.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable

from muleteer.accepting import Accepting
from muleteer.allowance import Allowance
from muleteer.seat.link import tune
from muleteer.seat.secured import secured
from muleteer.seat.trust import JOIN, TALK, Shown, shown_by

log = logging.getLogger(__name__)

MOST_HANDSHAKES = 16  # at once, each some 100 kB for its time; a household's devices all at once
MOST_FROM_ONE = 4  # of them from one address
ATTEMPTS, AT_ONCE = 2.0, 20.0  # handshakes from one address, a second and at once; each is 10 ms of a board
MOST_ADDRESSES = 256  # whose attempts are counted; then the count begins again
HANDSHAKE_SECONDS = 5.0  # a handshake takes 50 ms; with half the packets lost, seconds
BACKLOG = 16  # connections the kernel keeps for us

Member = Callable[[Shown, str, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Newcomer = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Door:
    """Listens from `open` until `close`. `context` is what the next handshakes use."""

    def __init__(self, context: ssl.SSLContext, member: Member, newcomer: Newcomer) -> None:
        self.context = context
        self._member, self._newcomer = member, newcomer
        self._socket: socket.socket | None = None
        self._accepting = Accepting(self._came)
        self._tasks: set[asyncio.Task[None]] = set()
        self._handshakes: Counter[str] = Counter()
        self._attempts: dict[str, Allowance] = {}

    @property
    def port(self) -> int:
        """Where it listens; 0 if it does not."""
        return int(self._socket.getsockname()[1]) if self._socket else 0

    def open(self, port: int) -> None:
        """Listen at `port`, or where there is room if it is taken. Raises `OSError`."""
        try:
            self._socket = _listen(port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            self._socket = _listen(0)
            log.warning("Port %d is taken; other devices find this one at port %d.", port, self.port)
        self._accepting.listen(self._socket)

    async def close(self) -> None:
        """Stop listening, and end what has not become anybody's connection yet."""
        self._accepting.close()
        self._socket = None
        await asyncio.sleep(0)  # a greeting that has not begun yet would leave its socket open
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _came(self, sock: socket.socket, host: str) -> None:
        if not self._admit(host, asyncio.get_running_loop().time()):
            sock.close()
            return
        tune(sock)
        self._handshakes[host] += 1
        task = asyncio.create_task(self._greet(sock, host), name="seat connection")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _admit(self, host: str, now: float) -> bool:
        """Whether one more handshake with `host` may begin."""
        if self._handshakes.total() >= MOST_HANDSHAKES or self._handshakes[host] >= MOST_FROM_ONE:
            return False
        if len(self._attempts) >= MOST_ADDRESSES and host not in self._attempts:
            self._attempts.clear()
        allowed = self._attempts.setdefault(host, Allowance.of(ATTEMPTS, AT_ONCE, now))
        return allowed.take(now)

    async def _greet(self, sock: socket.socket, host: str) -> None:
        try:
            reader, writer = await secured(sock, self.context, HANDSHAKE_SECONDS, accepted=True)
        except OSError as error:
            log.debug("a handshake with %s failed: %s", host, error)
            return
        finally:
            self._handshakes[host] -= 1
            self._handshakes += Counter()  # without those at zero
        try:
            await self._pass_on(host, reader, writer)
        finally:
            writer.transport.abort()

    async def _pass_on(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        secured = writer.get_extra_info("ssl_object")
        spoken = secured.selected_alpn_protocol()
        certificate = secured.getpeercert(binary_form=True)
        shown = shown_by(certificate) if certificate else None
        if spoken == TALK and shown:
            await self._member(shown, host, reader, writer)
        elif spoken == JOIN:
            with contextlib.suppress(OSError):
                await self._newcomer(host, reader, writer)


def _listen(port: int) -> socket.socket:
    """At all addresses, IPv6 and IPv4, or IPv4 alone where there is no IPv6."""
    both = socket.has_dualstack_ipv6()
    family, host = (socket.AF_INET6, "::") if both else (socket.AF_INET, "0.0.0.0")  # noqa: S104 (a LAN service)
    listening = socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
    listening.setblocking(False)
    return listening
