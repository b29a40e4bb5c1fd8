"""HTTP/1.1 on a listening socket: uvicorn's protocol, without uvicorn's server.

Knows uvicorn's h11 protocol and its connections. `uvicorn.Server` is not used since it looks ten times a
second whether it should stop, and takes over the process's signals; here both are awaited.
"""

from __future__ import annotations

import asyncio
import logging
import socket

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from muleteer.errors import EngineBusyError, RequestError
from muleteer.gateway.replies import error_reply

log = logging.getLogger(__name__)

KEEP_ALIVE = 30  # seconds an idle connection is kept for its next request
LARGEST_HEAD = 16 << 10  # bytes of request line and headers; clients here send under 1 kB
MOST_CONNECTIONS = 64  # each may hold a body of 1 MiB; a household has a handful of clients
LARGEST_PIPELINE = 64 << 10  # bytes sent ahead while a request is being answered; no client of ours does that


class HttpServer:
    """Serves `app` from `start` until `stop`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._config = Config(
            self._answer,
            http=_Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE,
            h11_max_incomplete_event_size=LARGEST_HEAD,
        )
        self._config.load()
        self._state = _State()
        self._server: asyncio.AbstractServer | None = None

    async def start(self, sock: socket.socket) -> None:
        """Accept connections on a bound Unix socket, which then belongs to this server."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(self._connection, sock=sock)

    def close(self) -> None:
        """Accept no more, and end each connection as soon as it is not answering a request."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self._state.connections):
            connection.shutdown()

    async def stop(self, seconds: float) -> None:
        """`close`, wait at most so many seconds for the answers being written, then cut the rest off."""
        self.close()
        try:
            async with asyncio.timeout(seconds):
                await self._state.idle.wait()
        except TimeoutError:
            log.warning("%d connections did not end in time and are cut off", len(self._state.connections))
        for connection in tuple(self._state.connections):
            connection.transport.abort()
        if self._state.tasks:  # as their clients are gone
            await asyncio.wait(self._state.tasks)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        crowded = len(self._state.connections) > MOST_CONNECTIONS
        await (_CROWDED if crowded else self._app)(scope, receive, send)

    def _connection(self) -> asyncio.Protocol:
        return _Connection(config=self._config, server_state=self._state, app_state={})


_CROWDED = error_reply(
    EngineBusyError(f"More than {MOST_CONNECTIONS} clients are connected; ask again soon.")
)
_NOT_HTTP = error_reply(RequestError(f"This is not HTTP/1.1, or its headers exceed {LARGEST_HEAD} bytes."))


class _State(ServerState):
    """uvicorn's record of its connections, and an event for the moment when there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.idle = asyncio.Event()
        self.idle.set()


class _Connection(H11Protocol):
    """One client. Refuses what is not HTTP in our shape of an error, and notices a hang-up at any time."""

    server_state: _State

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        super().connection_made(transport)
        self.server_state.idle.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self.connections:
            self.server_state.idle.set()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        ahead, _ = self.conn.trailing_data
        if len(ahead) > LARGEST_PIPELINE:
            self.transport.abort()
        elif self.flow.read_paused and not self.cycle.more_body:
            self.flow.resume_reading()  # a paused reader would not see the client go

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None:  # a body that turned out broken: its request gets no other answer
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # too late for an answer
            return
        head = h11.Response(
            status_code=400,
            headers=[*_NOT_HTTP.raw_headers, (b"connection", b"close")],
            reason=b"Bad Request",
        )
        for event in (head, h11.Data(data=bytes(_NOT_HTTP.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()
