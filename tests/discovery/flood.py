"""A stranger that floods the network with devices that do not exist.

    python flood.py OWN_ADDRESS COUNT

Announces that many names, one in four of them with as much text as a packet holds, for as long as DNS allows.
"""

from __future__ import annotations

import asyncio
import secrets
import sys

from zeroconf import DNSOutgoing  # type: ignore[attr-defined]
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

TYPE = "_muleteer._tcp.local."
RESPONSE = 0x8400  # flags of RFC 1035: an answer, with authority
FOREVER = 2**31 - 1  # seconds: what is to expire soonest is dropped first
HUGE = b"".join(b"\xfa" + f"k{number:03}=".encode() + b"x" * 245 for number in range(34))  # 8.5 kB


async def main(own: str, count: int) -> None:
    flooding = AsyncZeroconf(interfaces=[own])
    await flooding.zeroconf.async_wait_for_start()
    for number in range(count):
        device = secrets.token_hex(16)
        text = {"id": device, "proto": "1", "port": "7433", "role": "driver"}
        info = AsyncServiceInfo(
            TYPE,
            f"{device}.{TYPE}",
            port=7433,
            properties=text if number % 4 else HUGE,
            server=f"{device}.local.",
            parsed_addresses=[own],
        )
        out = DNSOutgoing(RESPONSE)
        out.add_answer_at_time(info.dns_pointer(FOREVER), 0)
        out.add_answer_at_time(info.dns_service(FOREVER), 0)
        out.add_answer_at_time(info.dns_text(FOREVER), 0)
        for address in info.dns_addresses(FOREVER):
            out.add_answer_at_time(address, 0)
        flooding.zeroconf.async_send(out)
        if number % 20 == 0:
            await asyncio.sleep(0.01)
    print("sent", flush=True)
    await flooding.async_close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
