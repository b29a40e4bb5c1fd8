"""Whether a request was meant for this device: what its Host and Origin headers must say. Pure.

A web page can make a browser connect to any address (DNS rebinding: its own name is given a new address), but
not change what the browser then says: the page's name. So a name must be one of ours. An address was typed by
somebody, and must be the one that was connected to.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z._-]+))(?::[0-9]{1,5})?")
LOOPBACK = "127.0.0.1"


def own_names(more: Iterable[str] = ()) -> frozenset[str]:
    """The names of this device, in small letters, and those of the settings."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return frozenset(("localhost", name, short, f"{short}.local", *more))


def is_ours(host: str, local: str, names: frozenset[str]) -> bool:
    """Whether a Host header names this device, to which the client has connected at the address `local`."""
    said = _name(host)
    if said is None:
        return False
    if said in names:
        return True
    try:
        return ipaddress.ip_address(said) == ipaddress.ip_address(local.partition("%")[0])
    except ValueError:  # a name
        return False


def is_local(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header may stand on the Unix socket. Programs there write what they like; one with a dot
    that is not ours belongs to a web page that a forwarded port has brought here."""
    said = _name(host)
    return not host or (said is not None and not set(said) & set(".:")) or is_ours(host, LOOPBACK, names)


def is_own_page(origin: str, host: str) -> bool:
    """Whether a page with this Origin came from where its request goes: the Host, which must be ours."""
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _name(host: str) -> str | None:
    found = AUTHORITY.fullmatch(host)
    return (found[1] or found[2]).lower().removesuffix(".") if found else None
