"""Sockets that systemd has opened for us: sd_listen_fds(3).

Knows the variables and what a socket must be to be served; whether one over TCP may be is for the settings to
say. The socket's file, mode and owner are systemd's: closing one here removes nothing, and who asks meanwhile
waits for the next daemon.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

FIRST = 3  # SD_LISTEN_FDS_START
MOST = 16  # sockets; our units open three
VARIABLES = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")
UNIX = "unix"  # FileDescriptorName= in muleteer.socket
TCP = "tcp"  # and in muleteer-tcp.socket


@dataclass(frozen=True, slots=True)
class Inherited:
    """A listening Unix socket whose file is not ours to remove."""

    path: Path
    socket: socket.socket

    def close(self) -> None:
        self.socket.close()


@dataclass(frozen=True, slots=True)
class Listeners:
    """What was handed to this process."""

    unix: Inherited | None = None
    tcp: tuple[socket.socket, ...] = ()

    def refuse_tcp(self, why: str) -> None:
        """Serve none of the TCP sockets: who connects to one is told nothing."""
        for sock in self.tcp:
            log.warning("The port that systemd has opened is not served (%s); run `muleteer install`.", why)
            sock.close()

    @classmethod
    def take(cls, environment: MutableMapping[str, str] = os.environ, first: int = FIRST) -> Listeners:
        """The sockets that the variables name, the first of which has the number `first`. The variables are
        removed: no child inherits the sockets. What is not served here is closed, and said."""
        pid, count, names = (environment.pop(name, "") for name in VARIABLES)
        if pid != str(os.getpid()) or not count.isdecimal():
            return cls()
        unix: Inherited | None = None
        tcp: list[socket.socket] = []
        labels = names.split(":") if names else []
        for index in range(min(int(count), MOST)):
            sock = socket.socket(fileno=first + index)
            label = labels[index] if index < len(labels) else ""
            sock.set_inheritable(False)
            sock.setblocking(False)
            if unix is None and label == UNIX and _listens(sock, socket.AF_UNIX):
                unix = Inherited(Path(sock.getsockname()), sock)
            elif label == TCP and _listens(sock, socket.AF_INET, socket.AF_INET6):
                tcp.append(sock)
            else:
                log.warning("The socket %s, which systemd handed over, is not served here.", label or index)
                sock.close()
        return cls(unix, tuple(tcp))


def _listens(sock: socket.socket, *families: socket.AddressFamily) -> bool:
    streams = sock.family in families and sock.type == socket.SOCK_STREAM
    return streams and bool(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
