"""The section `seat` of the settings. Knows keys and limits, like `sections.py`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from muleteer.settings.sections import Count, Section, Words

PORT = 7433  # registered to nobody; above 1024, below the ports that connections get
ADDRESS = re.compile(r"\[?([0-9A-Za-z.:_-]+?)\]?(?::([0-9]{1,5}))?")


def split_address(text: str) -> tuple[str, int]:
    """`10.0.0.5`, `shed.lan:7433` or `[fe80::1]:7433` as host and port. Raises `ValueError`."""
    bare = text.count(":") > 1 and not text.startswith("[")  # an IPv6 address without a port
    found = None if bare else ADDRESS.fullmatch(text)
    host, port = (text, None) if bare else (found[1], found[2]) if found else ("", None)
    number = int(port) if port else PORT
    if not host or not re.fullmatch(r"[0-9A-Za-z.:_-]+", host) or not 0 < number < 65536:
        raise ValueError(f"{text!r} is no address; write it like 192.168.1.20 or shed.lan:{PORT}")
    return host, number


def _address(value: str) -> str:
    split_address(value)
    return value


Addresses = Annotated[tuple[Annotated[Words, AfterValidator(_address)], ...], Field(max_length=32)]


class SeatSettings(Section):
    """The driver's seat: which device of the household does the background work."""

    enabled: bool = Field(
        True, description="false: this device takes part in no household, and does its own background work"
    )
    port: Count = Field(
        PORT,
        ge=0,
        le=65_535,
        description="TCP port for the other devices of the household; 0: any that is free",
    )
    peers: Addresses = Field(
        (), description="addresses of other devices, where mDNS does not reach them: shed.lan, 10.0.0.5:7433"
    )
    mdns: bool = Field(
        True, description="whether this device is announced by mDNS and looks for others there"
    )
    priority: Count = Field(
        0, ge=-100, le=100, description="the device with the highest priority drives, if it can"
    )
