"""What is known of a connection before anything was said on it: from where, how, and how to end it.

Knows transports of asyncio. A request finds it in its ASGI scope's state, under `CONNECTION`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

CONNECTION = "muleteer.connection"
CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): process, user, group


@dataclass(frozen=True, slots=True, eq=False)
class Connected:
    """`address` is where the client is: an IP address, or the user and process on this machine. `local` is
    the address it has connected to, empty on the Unix socket."""

    transport: Literal["unix", "tcp", "tls"]
    address: str
    local: str
    abort: Callable[[], None]


def connected_by(transport: asyncio.Transport) -> Connected:
    """What `transport` tells."""
    sock = transport.get_extra_info("socket")
    if sock.family == socket.AF_UNIX:
        pid, uid, _ = CREDENTIALS.unpack(
            sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
        )
        return Connected("unix", f"user {uid}, process {pid}", "", transport.abort)
    kind: Literal["tcp", "tls"] = "tls" if transport.get_extra_info("sslcontext") else "tcp"
    remote, local = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
    return Connected(kind, str(remote[0]) if remote else "", str(local[0]) if local else "", transport.abort)
