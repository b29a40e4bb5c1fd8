"""The TCP port of the gateway: bound on this machine or on the network, and the same after a restart.

Clients keep the port they were told, so the one that was used last goes before the configured one, until
another is configured. Knows addresses and a small file; not what is served.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from muleteer.durable import write_durably
from muleteer.files import open_regular

log = logging.getLogger(__name__)

FILE_NAME = "gateway-port.json"
LARGEST = 1024  # bytes of that file
BACKLOG = 64  # connections not yet accepted; the loop accepts within milliseconds unless the board swaps
NEXT_PORTS = 32  # tried after the configured one; a machine has a handful of daemons
HOSTS = {"loopback": ("127.0.0.1", "::1"), "lan": ("0.0.0.0", "::")}  # noqa: S104 (a LAN service, by choice)
NO_SUCH_ADDRESS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT)

Where = Literal["loopback", "lan"]


@dataclass(frozen=True, slots=True)
class Tcp:
    """Listening sockets at one port."""

    port: int
    sockets: Sequence[socket.socket]

    def close(self) -> None:
        for sock in self.sockets:
            sock.close()


def listen_tcp(where: Where, port: int, folder: Path) -> Tcp:
    """Listen at `port`, the one that took its place the last time, or the next that is free. 0: any that is
    free. Raises `OSError`, whose `strerror` is for people."""
    last = _last(folder, port)
    ports = [*([last] if last else []), port, *range(port + 1, min(port + 1 + NEXT_PORTS, 65_536))]
    for each in dict.fromkeys(ports) if port else [last or 0, 0]:
        try:
            tcp = _bind(where, each)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            raise OSError(error.errno, f"port {each} cannot be opened: {error.strerror or error}") from error
        if each not in (port, last):
            log.warning("Port %d is taken; clients find this device at port %d from now on.", port, tcp.port)
        _keep(folder, port, tcp.port)
        return tcp
    raise OSError(errno.EADDRINUSE, f"port {port} and the {NEXT_PORTS} after it are taken; set gateway.port")


def addresses(where: Literal["off"] | Where, port: int) -> list[str]:
    """Where to listen, as a unit of systemd says it; none where the daemon has to look for a port itself."""
    if where == "off" or not port:
        return []
    ipv4, ipv6 = HOSTS[where]
    return [f"{ipv4}:{port}", *([f"[{ipv6}]:{port}"] if Path("/proc/net/if_inet6").exists() else [])]


def fits(sock: socket.socket, where: Where) -> bool:
    """Whether a socket that was opened elsewhere listens where the settings want it."""
    return where == "lan" or ip_address(str(sock.getsockname()[0]).partition("%")[0]).is_loopback


def _bind(where: Where, port: int) -> Tcp:
    """IPv4 and IPv6 apart, so that each peer has an address of its own kind."""
    sockets: list[socket.socket] = []
    with contextlib.ExitStack() as undo:
        for family, host in zip((socket.AF_INET, socket.AF_INET6), HOSTS[where], strict=True):
            try:
                sock = socket.create_server((host, port), family=family, backlog=BACKLOG)
            except OSError as error:
                if error.errno in NO_SUCH_ADDRESS and (sockets or family == socket.AF_INET):
                    continue  # a machine without the one or the other
                raise
            undo.callback(sock.close)
            sock.setblocking(False)
            sockets.append(sock)
            port = sock.getsockname()[1]
        undo.pop_all()
    return Tcp(port, sockets)


def _last(folder: Path, configured: int) -> int:
    """The port that was used when `configured` was it before; 0 if there is none."""
    try:
        with open_regular(folder / FILE_NAME) as file:
            kept = json.loads(file.read(LARGEST))
        used = kept["used"] if kept["configured"] == configured else 0
    except (OSError, ValueError, TypeError, KeyError):  # it was never kept, or damaged: then it is kept anew
        return 0
    return used if isinstance(used, int) and 0 < used < 65_536 else 0


def _keep(folder: Path, configured: int, used: int) -> None:
    content = json.dumps({"configured": configured, "used": used}).encode()
    try:
        if (folder / FILE_NAME).is_file() and _last(folder, configured) == used:
            return  # a card is not written for nothing
        write_durably(folder / FILE_NAME, content)
    except OSError as error:
        log.warning("The port cannot be kept for the next start: %s.", error.strerror or error)
