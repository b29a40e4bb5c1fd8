"""Anybody on the network: what a program that knows only mDNS sees of the devices there.

    python onlooker.py OWN_ADDRESS SECONDS

Prints, as JSON, each record of our types: its name, port, text and addresses, and for voice what the service
there calls itself, if it answers. Uses the libraries as others do.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys

from wyoming.client import AsyncTcpClient
from wyoming.info import Describe, Info
from zeroconf import ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

TYPES = ["_muleteer._tcp.local.", "_wyoming._tcp.local."]


async def program(host: str, port: int) -> str | None:
    """The name of the service, as a voice pipeline asks for it; None where nobody talks to us."""
    with contextlib.suppress(OSError, EOFError):
        async with asyncio.timeout(10), AsyncTcpClient(host, port) as client:
            await client.write_event(Describe().event())
            event = await client.read_event()
            return Info.from_event(event).handle[0].name if event else None
    return None


async def main(own: str, seconds: float) -> None:
    names: dict[str, str] = {}

    def changed(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change is ServiceStateChange.Removed:
            names.pop(name, None)
        else:
            names[name] = service_type

    looking = AsyncZeroconf(interfaces=[own])
    browser = AsyncServiceBrowser(looking.zeroconf, TYPES, handlers=[changed])
    await asyncio.sleep(seconds)
    seen = []
    for name, kind in sorted(names.items()):
        info = AsyncServiceInfo(kind, name)
        await info.async_request(looking.zeroconf, 3000)
        text, addresses = info.decoded_properties, sorted(info.parsed_addresses())
        said = await program(addresses[0], info.port or 0) if "_wyoming" in kind else None
        seen.append({"name": name, "port": info.port, "text": text, "addresses": addresses, "said": said})
    await browser.async_cancel()
    await looking.async_close()
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
