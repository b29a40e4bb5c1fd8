"""A device that belongs to no household and wants to drive: what it learns and what it can do.

    python liar.py ID ADDRESS PORT

Announces itself as a driver, many times over and in the name of the member ID, reads what that one announces,
and tries to connect with it. Prints what came of it.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from muleteer.discovery.announced import TYPE
from muleteer.seat.codec import message_frame
from muleteer.seat.identity import load_identity
from muleteer.seat.messages import Kind, Message
from muleteer.seat.trust import contexts
from muleteer.seat.wire import encode

NAMES = 150  # more than anybody remembers
FAR = Message(Kind.HEARTBEAT, "", "", 9999, (9999, 9), clock=1)


async def main(target: str, host: str, port: int) -> None:
    own = socket.gethostbyname(host) and _own_address(host)
    lying = AsyncZeroconf(interfaces=[own])
    info = AsyncServiceInfo(TYPE, f"{target}.{TYPE}")
    await info.async_request(lying.zeroconf, 3000)
    print("TXT", ",".join(sorted(info.decoded_properties)))
    for device in [target, *(secrets.token_hex(16) for _ in range(NAMES))]:
        text = {"id": device, "proto": "1", "port": "7433", "role": "driver", "priority": "100"}
        lie = AsyncServiceInfo(
            TYPE,
            f"{device}.{TYPE}",
            port=7433,
            properties=text,
            server=f"x{device}.local.",
            parsed_addresses=[own],
        )
        lying.zeroconf.async_send(lying.zeroconf.generate_service_broadcast(lie, None))
        await asyncio.sleep(0.01)
    identity = load_identity(Path(tempfile.mkdtemp()))
    stranger = contexts(identity, Ed25519PrivateKey.generate()).connect
    stranger.check_hostname, stranger.verify_mode = False, 0  # type: ignore[assignment]
    print("a certificate of its own:", await _talk(host, port, stranger))
    bare = contexts(identity, None).connect
    bare.verify_mode = 0  # type: ignore[assignment]
    print("without a certificate:", await _talk(host, port, bare))
    await asyncio.sleep(2)
    await lying.async_close()


def _own_address(host: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((host, 9))
        return str(sock.getsockname()[0])


async def _talk(host: str, port: int, context: object) -> str:
    """Say a heartbeat of a far term, and hear whether anything comes back."""
    try:
        reader, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname="")
        writer.write(encode({"k": "hello", "v": 1}, 1) + encode(message_frame(FAR), 2))
        async with asyncio.timeout(10):
            said = await reader.read()
        writer.transport.abort()
    except OSError:
        return "closed"
    return "closed" if not said else f"answered with {len(said)} bytes"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
