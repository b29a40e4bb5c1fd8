"""`/v1/devices`: what is announced on the network. Knows the shape on the wire; not how devices are found."""

from __future__ import annotations

import asyncio
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.discovery.announced import Announced
from muleteer.discovery.mdns import Discovery
from muleteer.gateway import replies


class Known(Protocol):
    """What this device knows of others itself."""

    def is_member(self, device: str) -> bool: ...
    def name_of(self, device: str) -> str: ...


def devices_route(discovery: Discovery, known: Known | None) -> Route:
    """What others announce, and why that may be nothing. `known` is the household, if there is one."""

    async def devices(request: Request) -> Response:
        found = await discovery.look()
        return replies.Json({"devices": [_shown(each, known) for each in found], "mdns": discovery.problem})

    return Route("/v1/devices", devices)


def _shown(each: Announced, known: Known | None) -> dict[str, object]:
    """Ports are null where a device is closed."""
    return {
        "id": each.id,
        "name": known.name_of(each.id) if known else each.id[:8],
        "role": each.role,
        "protocol": each.protocol,
        "clients_port": each.clients or None,
        "household_port": each.household or None,
        "addresses": each.addresses,
        "member": known is not None and known.is_member(each.id),
        "announced_s": round(asyncio.get_running_loop().time() - each.seen, 1),
    }
