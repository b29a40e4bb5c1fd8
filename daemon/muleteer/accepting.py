"""Accepting connections on listening sockets, also when there are no descriptors left for a while.

By callback, since a task that waits for the next connection loses it when it is cancelled at that moment.
Knows sockets; not who may come in, nor what is done with a connection.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

log = logging.getLogger(__name__)

REST_SECONDS = 0.1  # without accepting, when there are no descriptors left

Came = Callable[[socket.socket, str], None]


class Accepting:
    """Accepts from `listen` until `close`. `came` is given each connection, which does not block and is its
    own from then on, with the IP address it came from."""

    def __init__(self, came: Came) -> None:
        self._came = came
        self._sockets: dict[socket.socket, asyncio.TimerHandle | None] = {}  # with the end of their rest

    def listen(self, sock: socket.socket) -> None:
        """Accept on a listening socket that does not block, and then belongs to this."""
        self._sockets[sock] = None
        asyncio.get_running_loop().add_reader(sock, self._accept, sock)

    def close(self) -> None:
        """Accept no more. Harmless when repeated."""
        for sock, rest in self._sockets.items():
            if rest:
                rest.cancel()
            asyncio.get_running_loop().remove_reader(sock)
            sock.close()
        self._sockets.clear()

    def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            sock, address = listening.accept()
        except (BlockingIOError, ConnectionAbortedError):  # the caller is gone already
            return
        except OSError as error:  # out of descriptors
            log.debug("a connection could not be accepted: %s", error)
            loop.remove_reader(listening)
            self._sockets[listening] = loop.call_later(REST_SECONDS, self.listen, listening)
            return
        sock.setblocking(False)
        self._came(sock, str(address[0]).removeprefix("::ffff:"))
