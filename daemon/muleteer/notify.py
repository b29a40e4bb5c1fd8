"""sd_notify(3): telling systemd how the service is, in datagrams to the socket that NOTIFY_SOCKET names.

Knows the protocol. What is told, and when, is `alive.py`'s business. Without the variable, nothing is sent.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass

log = logging.getLogger(__name__)

VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Notifier:
    """Where to send to ("" for nowhere), and how many seconds the watchdog lets pass (0: there is none)."""

    address: str = ""
    watchdog: float = 0.0

    @classmethod
    def take(cls, environment: MutableMapping[str, str] = os.environ) -> Notifier:
        """What the variables name. They are removed: a child is not the service."""
        address, usec, pid = (environment.pop(name, "") for name in VARIABLES)
        ours = not pid or pid == str(os.getpid())
        watchdog = int(usec) / MICRO if ours and usec.isdecimal() else 0.0
        return cls(address if address.startswith(("/", "@")) else "", watchdog)

    def send(self, **fields: str | int) -> None:
        """Send fields by their names in sd_notify(3). Never waits; what cannot be sent is lost."""
        if not self.address:
            return
        lines = "\n".join(f"{name}={_one_line(value)}" for name, value in fields.items())
        address = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sock:
            try:
                sock.sendto(lines.encode(), address)
            except OSError as error:
                log.debug("systemd was not told %s: %s", ", ".join(fields), error)


def _one_line(value: str | int) -> str:
    return " ".join(str(value).split())
