"""Anybody on the network: what a program that knows only mDNS sees of the devices there.

    python onlooker.py OWN_ADDRESS SECONDS

Prints, as JSON, each record of our types: its name, port, text and addresses. Uses the library as others do.
"""

from __future__ import annotations

import asyncio
import json
import sys

from zeroconf import ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

TYPES = ["_muleteer._tcp.local.", "_wyoming._tcp.local."]


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
        seen.append({"name": name, "port": info.port, "text": text, "addresses": addresses})
    await browser.async_cancel()
    await looking.async_close()
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
