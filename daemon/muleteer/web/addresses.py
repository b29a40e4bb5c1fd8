"""Which web addresses may be read, and which machine each is: nothing of the own network unless allowed.

Knows URLs, IP addresses and name look-ups; opens no connection. A name is looked up once, and what comes out
is what is connected to, so that a second answer cannot lead elsewhere (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

import httpx

from muleteer.calling.threads import in_thread

Resolve = Callable[[str, int], Awaitable[list[str]]]
Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

LONGEST_URL = 2048  # characters; longer ones are made by programs, and no model copies them without a fault
MOST_ADDRESSES = 4  # of one name that are tried in turn
PORTS = {"http": 80, "https": 443}
# Networks of addresses that hold the IPv4 address where the packets really go, and how many bits come after
# it: mapped (RFC 4291), translated (RFC 6052), 6to4 (RFC 3056).
HOLDING = tuple(
    (ipaddress.IPv6Network(network), after)
    for network, after in (("::ffff:0:0/96", 0), ("64:ff9b::/96", 0), ("2002::/16", 80))
)
COMPATIBLE = ipaddress.IPv6Network("::/96")  # long out of use (RFC 4291), so nothing good is there
LAST_PORT = 65_535


class RefusedError(ValueError):
    """An address that must not be read; `str` is a sentence."""


@dataclass(frozen=True, slots=True)
class Place:
    """A web address that may be read, and the IP addresses to connect to, best first."""

    url: httpx.URL
    addresses: tuple[str, ...]


async def system_resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as this system's resolver gives them. Raises `OSError`."""
    found = await in_thread(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), "look up a name", lambda: None
    )
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def parse(text: str) -> httpx.URL:
    """A web address as people write it, `https` where it names no scheme. Raises `RefusedError`."""
    given = text.strip().strip("<>\"'")
    if len(given) > LONGEST_URL:
        raise RefusedError(f"The address has {len(given):,} characters; at most {LONGEST_URL:,} are read.")
    shown = "".join(each if each.isprintable() else "?" for each in given[:80])
    wrong = RefusedError(f'"{shown}" is not a web address; give one such as example.org.')
    if any(each.isspace() for each in given):
        raise wrong
    try:
        url = httpx.URL(given if "://" in given else f"https://{given}")
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise wrong from error
    if url.scheme in PORTS and not _host(url):
        raise wrong
    return check(url)


def check(url: httpx.URL) -> httpx.URL:
    """The address without its fragment. Raises `RefusedError` for what is not asked of the web."""
    if url.scheme not in PORTS:
        raise RefusedError("Only http and https addresses can be read.")
    if url.userinfo:
        raise RefusedError("The address holds a user name or password; give it without.")
    if not _host(url) or (url.port or 1) > LAST_PORT or len(str(url)) > LONGEST_URL:
        raise RefusedError("The address names no server, or is too long.")
    return url.copy_with(fragment=None)


async def place(url: httpx.URL, private: bool, allowed: Collection[str], resolve: Resolve) -> Place:
    """Look an address up. Raises `RefusedError` when it leads into the own network and may not, `OSError`
    when the name cannot be looked up."""
    bare = _bare(url.raw_host.decode("ascii"))
    try:
        found = (await resolve(bare, url.port or PORTS[url.scheme]))[:MOST_ADDRESSES]
    except OSError as error:
        raise OSError(f"the name {bare} could not be looked up ({error.strerror or error})") from error
    except UnicodeError:  # a label that is empty or too long
        raise RefusedError(f"{bare} is not a possible name of a server.") from None
    if not found:
        raise OSError(f"the name {bare} has no address")
    if not private and bare not in {_bare(each) for each in allowed}:
        for address in found:
            if not public(address):
                raise RefusedError(
                    f"{bare} is in a private network, and reading from there is not allowed; the setting "
                    "web.allow can name hosts that are."
                )
    return Place(url, tuple(found))


def public(address: str) -> bool:
    """Whether an IP address is one of the internet at large, and not of this device, its network or its
    provider; also for IPv4 inside of IPv6."""
    try:
        ip: Ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        for network, after in HOLDING:
            if ip in network:
                return public(str(ipaddress.IPv4Address(int(ip) >> after & 0xFFFF_FFFF)))
        if ip in COMPATIBLE or ip.is_site_local:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _host(url: httpx.URL) -> str:
    """The name of the server; empty where it is none, such as `xn--`, which only reading it tells."""
    try:
        return url.host
    except ValueError:
        return ""


def _bare(host: str) -> str:
    return host.casefold().strip("[]").rstrip(".")
