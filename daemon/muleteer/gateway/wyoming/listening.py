"""Where voice pipelines connect: a TCP port, a Unix socket, or both, as the settings open them.

What cannot be opened is told in the log and the status; the daemon works without it. Knows addresses and who
may connect; not what is said.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path

from wyoming.info import Info

from muleteer.errors import MuleteerError
from muleteer.gateway.connected import connected_by
from muleteer.gateway.peer import Peer
from muleteer.gateway.sockets import UnixListener, listen_unix
from muleteer.gateway.tcp import Tcp, Where, listen_tcp
from muleteer.gateway.wyoming.connection import Connection, Limits
from muleteer.gateway.wyoming.talk import Talks
from muleteer.gateway.wyoming.wire import LONGEST_LINE
from muleteer.settings.sections import GatewaySettings
from muleteer.settings.wyoming import WyomingSettings

log = logging.getLogger(__name__)

MOST_CONNECTIONS = 32  # each may hold 64 KiB of an event; a household has a handful of satellites
MOST_FROM_ONE = 8  # of them from one address
FOLDER = "wyoming"  # in the state folder, for the port that was used last
OPEN = (
    "Port %d is open to the local network without any password: who can connect can talk, and make tools act."
)


class VoiceListening:
    """From `open` until `stop`. `talks` answers, `info` describes."""

    def __init__(
        self, settings: WyomingSettings, talks: Talks, info: Callable[[], Info], limits: Limits | None = None
    ) -> None:
        self._settings, self._talks, self._info = settings, talks, info
        self._limits = limits or Limits()
        self._allowed = [ip_network(each, strict=False) for each in settings.allow]
        self._tcp: Tcp | None = None
        self._unix: UnixListener | None = None
        self._servers: list[asyncio.AbstractServer] = []
        self._connections: dict[asyncio.Task[None], tuple[Connection, str]] = {}  # oldest first
        self._problems: list[str] = []

    @property
    def lan_port(self) -> int:
        """The port that other devices may connect to; 0 where it is closed to them."""
        return self._tcp.port if self._tcp and self._settings.listen == "lan" else 0

    @property
    def port(self) -> int:
        """The TCP port; 0 where there is none."""
        return self._tcp.port if self._tcp else 0

    async def open(self, state: Path, gateway: GatewaySettings) -> None:
        """Listen where the settings say. `state` is the daemon's folder; the Unix socket has the mode and the
        group of the gateway's."""
        if self._settings.listen != "off":
            try:
                await self._open_tcp(state / FOLDER, self._settings.listen)
            except OSError as error:
                self._fail(f"TCP port {self._settings.port}: {error.strerror or error}")
        if self._settings.unix:
            try:
                await self._open_unix(self._settings.unix, gateway)
            except (OSError, MuleteerError) as error:
                self._fail(f"Unix socket: {error}")

    async def _open_tcp(self, folder: Path, where: Where) -> None:
        self._tcp = _bound(where, self._settings.port, folder)
        for sock in self._tcp.sockets:
            sock.setblocking(False)
            self._servers.append(await asyncio.start_server(self._greet, sock=sock, limit=LONGEST_LINE))
        log.info("Voice pipelines connect by Wyoming at port %d.", self._tcp.port)
        if self.lan_port:
            log.warning(OPEN, self.lan_port)

    async def _open_unix(self, path: Path, gateway: GatewaySettings) -> None:
        self._unix = listen_unix(path, gateway.socket_mode, gateway.socket_group)
        server = await asyncio.start_unix_server(self._greet, sock=self._unix.socket, limit=LONGEST_LINE)
        self._servers.append(server)
        log.info("Voice pipelines connect by Wyoming at %s.", path)

    def _fail(self, problem: str) -> None:
        self._problems.append(problem)
        log.error("No voice pipeline can connect. %s", problem)

    def report(self) -> Mapping[str, object]:
        """For the status."""
        return {
            "listen": self._settings.listen,
            "port": self.port,
            "allowed": list(self._settings.allow),
            "socket": str(self._unix.path) if self._unix else "",
            "connections": len(self._connections),
            "problem": "; ".join(self._problems),
        }

    async def stop(self, seconds: float) -> None:
        """Accept no more; who is being answered is given so many seconds."""
        for server in self._servers:
            server.close()
        if self._unix:
            self._unix.close()
        for connection, _ in list(self._connections.values()):
            connection.end()
        if self._connections:
            await asyncio.wait(self._connections, timeout=seconds)
        for task in list(self._connections):
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected = connected_by(writer.transport)  # type: ignore[arg-type]  # a socket's has what is asked
        key = "unix" if connected.transport == "unix" else connected.address
        who = Peer("", frozenset({"chat"}), connected.transport, connected.address, f"wyoming {key}")
        if not (who.transport == "unix" or self._may(who.address)) or not self._make_room(key):
            log.debug("A client of Wyoming was refused: %s.", who.address)
            writer.transport.abort()
            return
        connection = Connection(reader, writer, who, self._talks, self._info, self._limits)
        task = asyncio.create_task(connection.run(), name="wyoming client")
        self._connections[task] = connection, key
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._connections.pop(task, None)
        if not task.cancelled() and (error := task.exception()):
            log.error("A connection of Wyoming has failed.", exc_info=error)

    def _make_room(self, key: str) -> bool:
        """Whether one more may come; the oldest that is not being answered goes for it."""
        same = [(task, each) for task, (each, owner) in self._connections.items() if owner == key]
        every = [(task, each) for task, (each, _) in self._connections.items()]
        crowd = same if len(same) >= MOST_FROM_ONE else every if len(every) >= MOST_CONNECTIONS else []
        idle = next((task for task, each in crowd if not each.is_answering), None)
        if idle:
            idle.cancel()
            self._connections.pop(idle)
        return not crowd or idle is not None

    def _may(self, host: str) -> bool:
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:  # it is gone already
            return False
        if address.is_loopback:
            return True
        if self._allowed:
            return any(address in network for network in self._allowed)
        return address.is_private or address.is_link_local


def _bound(where: Where, port: int, folder: Path) -> Tcp:
    folder.mkdir(mode=0o700, exist_ok=True)
    return listen_tcp(where, port, folder)
