"""The one switch that keeps every tool from the network: on, off, or by whether there is a route.

Knows the kernel's word on routes and the file that keeps what was chosen; knows nothing of tools. No packet
is ever sent to find out.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from muleteer.durable import write_durably
from muleteer.files import open_regular, read_whole

log = logging.getLogger(__name__)

Mode = Literal["auto", "on", "off"]
REASONS = {"on": "Offline mode is on", "auto": "This device has no route to the internet"}
# Addresses for documentation (RFC 5737, RFC 3849): nobody has them, and they leave by the default route.
FAR = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
DISCARD = 9  # the port; none is ever spoken to
LARGEST_FILE = 1024  # bytes; the file holds one word


def has_route() -> bool:
    """Whether the kernel knows a way out, by IPv4 or IPv6: connecting a datagram socket looks the route up,
    policy rules and all, and sends nothing."""
    return any(_leads_out(family, address) for family, address in FAR)


def _leads_out(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as looking:
            looking.connect((address, DISCARD))
    except OSError:
        return False
    return True


class Switch:
    """The switch; `mode` is in force until it is set again, also after a restart. `default` counts until it
    was set once, `kept` is the file that keeps it."""

    def __init__(self, kept: Path, default: Mode, routed: Callable[[], bool] = has_route) -> None:
        self.mode: Mode = default
        self._kept, self._routed = kept, routed

    async def open(self) -> None:
        """Read what was chosen. A file that cannot be read counts as `on`: somebody chose, and to stay off
        the network is the choice that does no harm."""
        try:
            self.mode = await asyncio.to_thread(_read, self._kept)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            self.mode = "on"
            log.warning(
                "%s cannot be read (%s), so offline mode is on; choose with `muleteer offline`.",
                self._kept,
                error,
            )

    async def set(self, mode: Mode) -> None:
        """In force and on disk when this returns. Raises `OSError` when it could not be kept; then the mode
        is what it was."""
        await asyncio.to_thread(write_durably, self._kept, json.dumps({"mode": mode}).encode())
        self.mode = mode
        log.info("Offline: %s.", mode)

    def why(self) -> str:
        """Why tools may not use the network now, without a full stop; empty when they may."""
        return "" if self.mode == "off" or (self.mode == "auto" and self._routed()) else REASONS[self.mode]

    async def reason(self) -> str:
        """`why`, as tools are lent it."""
        return self.why()

    def report(self) -> dict[str, object]:
        """For `status`: what was chosen, and what it comes to now."""
        why = self.why()
        return {"mode": self.mode, "offline": bool(why), "reason": why}


def _read(path: Path) -> Mode:
    with open_regular(path) as file:
        found = json.loads(read_whole(file, LARGEST_FILE))
    for mode in get_args(Mode):
        if found == {"mode": mode}:
            return mode  # type: ignore[no-any-return]  # get_args tells no types
    raise ValueError("it holds no mode")
