"""What a device says of itself on the network: id, protocol, ports, role, and nothing else.

Pure. All of it is a hint: anybody can announce anything, and a record says nothing about whether its device
still runs. Knows the record's fields and their limits; not how they travel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TYPE = "_muleteer._tcp.local."
VOICE_TYPE = "_wyoming._tcp.local."
PROTOCOL = 1  # version of what stands in the record
ROLE = re.compile(r"[a-z ]{1,16}")
ID = re.compile(r"[0-9a-f]{32}")
MOST_ADDRESSES = 8  # of one device


@dataclass(frozen=True, slots=True)
class Shown:
    """What of this device is open to the network: the TCP ports for clients, for the other devices of the
    household and for voice pipelines, 0 where it is closed; and its role in the household."""

    clients: int = 0
    household: int = 0
    voice: int = 0
    role: str = "alone"

    def is_open(self) -> bool:
        return bool(self.clients or self.household or self.voice)

    def port(self) -> int:
        """Where people's programs connect: the clients' port, else the household's."""
        return self.clients or self.household

    def text(self, device: str) -> dict[str, str]:
        """The record's text. `port` is the household's."""
        return {"id": device, "proto": str(PROTOCOL), "port": str(self.household), "role": self.role}


@dataclass(frozen=True, slots=True)
class Announced:
    """What a device, or somebody in its name, says about it. Ports are 0 where it is closed; `addresses` are
    IP addresses, `seen` is on the loop's clock."""

    id: str
    protocol: int
    role: str
    clients: int
    household: int
    addresses: tuple[str, ...]
    seen: float


def device_of(name: str) -> str:
    """The id in the name of an instance of `TYPE`; empty where it has none."""
    device = name.lower().removesuffix(f".{TYPE}")
    return device if ID.fullmatch(device) else ""


def read(
    device: str, port: int, text: Mapping[str, str | None], addresses: Sequence[str], now: float
) -> Announced | None:
    """What the record of the device says; None if it is not one of ours, or contradicts itself."""
    protocol, household, role = (text.get(key) or "" for key in ("proto", "port", "role"))
    if text.get("id") != device or not _number(protocol, 9999) or not _number(household, 65535):
        return None
    clients = 0 if port == int(household) else port
    if not (clients or int(household)) or not addresses:
        return None
    role = role if ROLE.fullmatch(role) else "unknown"
    known = tuple(addresses[:MOST_ADDRESSES])
    return Announced(device, int(protocol), role, clients, int(household), known, now)


def _number(text: str, most: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= most
