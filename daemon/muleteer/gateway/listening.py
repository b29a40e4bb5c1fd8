"""The gateway's listeners: the Unix socket, and the network where the settings open it.

A network that cannot be opened is told in the log, the status and by `muleteer doctor`; the Unix socket works
without it. Knows the settings and which listener is guarded how.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Match

from muleteer.discovery.interfaces import reach
from muleteer.gateway.access import LocalAccess, NetworkAccess
from muleteer.gateway.activation import Listeners
from muleteer.gateway.connected import Connected
from muleteer.gateway.hosts import own_names
from muleteer.gateway.pairing import Pairing
from muleteer.gateway.server import LOCAL_LIMITS, NETWORK_LIMITS, HttpServer
from muleteer.gateway.tcp import Tcp, fits, listen_tcp
from muleteer.gateway.tls import Certificate, certificate
from muleteer.settings.sections import GatewaySettings
from muleteer.store.tokens import Tokens

log = logging.getLogger(__name__)

READABLE = "what is said there, tokens included, can be read on the network, since gateway.tls is off"
ELSEWHERE = (
    "the socket that systemd has opened is not one of this machine alone; run `muleteer install` again"
)

HELD = "systemd still holds the port, though gateway.listen is off; `sudo muleteer install` closes it"

LOOPBACK = ("127.0.0.1", "::1")


class Listening:
    """Where clients connect. `tokens` is closed by whoever has opened it."""

    def __init__(self, settings: GatewaySettings, folder: Path, device: str, tokens: Tokens) -> None:
        self._settings, self._tokens = settings, tokens
        self._names = own_names((*([f"{device}.local"] if device else []), *settings.hosts))
        self._tcp: Tcp | None = None
        self._certificate: Certificate | None = None
        self._access: NetworkAccess | None = None
        self._servers: dict[str, HttpServer] = {}
        self._problem = ""
        self.pairing: Pairing | None = None
        self._folder, self._device = folder, device

    @property
    def lan_port(self) -> int:
        """The port that other devices may connect to; 0 where it is closed to them."""
        return self._tcp.port if self._tcp and self._settings.listen == "lan" else 0

    @property
    def tls(self) -> bool:
        return self._certificate is not None

    def bind(self, handed: Listeners) -> None:
        """Open the port, if one is wanted: the one that systemd has, or one of our own."""
        if self._settings.listen == "off":
            self._problem = HELD if handed.tcp else ""
            handed.refuse_tcp("gateway.listen is off")
            return
        try:
            if self._settings.tls:
                self._certificate = certificate(
                    self._folder, self._device, (*self._names, *LOOPBACK, *reach().addresses)
                )
            self._tcp = self._handed(handed) or listen_tcp(
                self._settings.listen, self._settings.port, self._folder
            )
        except OSError as error:
            self._problem = error.strerror or str(error)
            log.error("No client can connect over the network: %s.", self._problem)
            handed.refuse_tcp(self._problem)
            return
        self.pairing = Pairing(
            self._tokens,
            self._device,
            {"device": self._device, "host": socket.gethostname(), "fingerprint": self._fingerprint},
        )

    def _handed(self, handed: Listeners) -> Tcp | None:
        where = self._settings.listen
        if where == "off" or not handed.tcp:
            return None
        if not all(fits(sock, where) for sock in handed.tcp):
            raise OSError(0, ELSEWHERE)
        return Tcp(handed.tcp[0].getsockname()[1], handed.tcp)

    @property
    def _fingerprint(self) -> str:
        return self._certificate.fingerprint if self._certificate else ""

    async def serve(self, app: Starlette, unix: socket.socket) -> None:
        """Answer on every listener."""
        local = self._servers["unix"] = HttpServer(LocalAccess(app, self._names), LOCAL_LIMITS)
        await local.start(unix)
        if self._tcp is None:
            return
        self._access = NetworkAccess(
            app,
            self._tokens,
            self._names,
            lambda scope: any(route.matches(scope)[0] is not Match.NONE for route in app.routes),
        )
        network = self._servers["network"] = HttpServer(self._access, NETWORK_LIMITS)
        network.start_tcp(self._tcp.sockets, self._certificate.context if self._certificate else None)
        where = "this machine" if self._settings.listen == "loopback" else "the local network"
        log.info("Clients connect at port %d, from %s.", self._tcp.port, where)
        if self._certificate:
            log.info("The certificate's fingerprint (SHA-256) is %s.", self._fingerprint)
        elif self.lan_port:
            log.warning("The port %d is open without TLS: %s.", self._tcp.port, READABLE)

    def revoked(self, name: str, spared: Connected) -> None:
        """End what the token of this name is being answered, but not on the connection that asked for it."""
        if self._access:
            self._access.cut(name, spared)

    async def where(self) -> Mapping[str, object]:
        """Where clients connect: the addresses of this device, the port, and how it is recognised."""
        loopback = self._settings.listen == "loopback"
        return {
            "addresses": ["127.0.0.1"] if loopback else (await asyncio.to_thread(reach)).addresses,
            "port": self._tcp.port if self._tcp else 0,
            "fingerprint": self._fingerprint,
        }

    def connections(self) -> Mapping[str, int]:
        """How many are open, by listener."""
        return {name: server.connections for name, server in self._servers.items()}

    def report(self) -> Mapping[str, object]:
        """For the status. `port` is 0 where nothing listens, and `problem` says why that is not as wished."""
        return {
            "listen": self._settings.listen,
            "port": self._tcp.port if self._tcp else 0,
            "tls": self.tls,
            "fingerprint": self._fingerprint,
            "problem": self._problem,
        }

    def close(self) -> None:
        """Accept no more connections."""
        for server in self._servers.values():
            server.close()

    async def stop(self, seconds: float) -> None:
        """`close`, and end those that are open; each answer is given so many seconds."""
        await asyncio.gather(*(server.stop(seconds) for server in self._servers.values()))
