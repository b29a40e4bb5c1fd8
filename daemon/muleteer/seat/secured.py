"""TLS over a connected socket, as a pair of streams. What is given up on the way there is closed at once.

Left to asyncio, a handshake that is cancelled in the moment in which it is done waits for the goodbye of the
other side, which nobody reads any more. Knows sockets; not who may be at the other end.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import cast

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Watched(asyncio.StreamReaderProtocol):
    """Knows its transport from the moment in which there is one."""

    made: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.made = cast(asyncio.Transport, transport)  # as both loops make it for TLS
        super().connection_made(transport)


async def secured(sock: socket.socket, context: ssl.SSLContext, seconds: float, accepted: bool) -> Streams:
    """Shake hands, within so many seconds; `accepted`: the other end has connected. The socket belongs to the
    streams, and is closed where they do not come about. Raises `OSError` and `ValueError`."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    protocol = _Watched(reader)
    try:
        if accepted:
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol, sock, ssl=context, ssl_handshake_timeout=seconds
            )
        else:
            transport, _ = await loop.create_connection(
                lambda: protocol, sock=sock, ssl=context, server_hostname="", ssl_handshake_timeout=seconds
            )
    except BaseException:
        if protocol.made:
            protocol.made.abort()
        sock.close()
        raise
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
