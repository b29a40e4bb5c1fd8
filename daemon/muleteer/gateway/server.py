"""HTTP/1.1 on listening sockets: uvicorn's protocol, without uvicorn's server.

No client can lock the others out: a connection has a deadline whenever it is not being answered, and when
there are too many, the oldest of those makes room for the newcomer.

Knows uvicorn's h11 protocol and its connections. `uvicorn.Server` is not used since it looks ten times a
second whether it should stop, and takes over the process's signals; here both are awaited.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

import h11
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from muleteer.errors import MuleteerError, RequestError, SlowRequestError
from muleteer.gateway.acceptor import Acceptor
from muleteer.gateway.connected import CONNECTION, connected_by
from muleteer.gateway.replies import crash_reply, error_reply

log = logging.getLogger(__name__)

KEEP_ALIVE = 30  # seconds an idle connection is kept for its next request
HEAD_SECONDS = 5.0  # for a request line and headers; a client on this machine needs a millisecond
LARGEST_HEAD = 16 << 10  # bytes of request line and headers; clients here send under 1 kB
MOST_CONNECTIONS = 64  # each may hold a body of 1 MiB; a household has a handful of clients
MOST_ANSWERED = 128  # connections, none of which can make room; only our own slowness leads here
MOST_FROM_ONE = 48  # connections of one address over TCP; pages of several people behind one proxy
LARGEST_PIPELINE = 64 << 10  # bytes sent ahead while a request is being answered; no client of ours does that


STALL_SECONDS = 60.0  # for a client on the network to go on reading; a phone wakes up in a few


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take: seconds for the head of a request, numbers of connections, of all and of one
    address, and seconds of not reading what they are sent (None: for ever)."""

    head: float = HEAD_SECONDS
    connections: int = MOST_CONNECTIONS
    answered: int = MOST_ANSWERED
    from_one: int = MOST_CONNECTIONS
    stall: float | None = None


LOCAL_LIMITS = Limits()
NETWORK_LIMITS = Limits(connections=128, answered=192, from_one=MOST_FROM_ONE, stall=STALL_SECONDS)


class HttpServer:
    """Serves `app` from `start` until `stop`."""

    def __init__(self, app: ASGIApp, limits: Limits | None = None) -> None:
        self._app = app
        self._config = Config(
            self._answer,
            http=_Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="error",  # it warns of every request that is not HTTP, and anybody can send those
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE,
            h11_max_incomplete_event_size=LARGEST_HEAD,
        )
        self._config.load()
        self._state = _State(limits or Limits())
        self._server: asyncio.AbstractServer | None = None
        self._acceptor: Acceptor | None = None

    async def start(self, sock: socket.socket) -> None:
        """Accept connections on a bound Unix socket, which then belongs to this server."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(self._connection, sock=sock)

    def start_tcp(self, socks: Iterable[socket.socket], tls: ssl.SSLContext | None) -> None:
        """Accept connections on listening TCP sockets, which then belong to this server."""
        self._acceptor = Acceptor(self._connection, tls)
        for sock in socks:
            self._acceptor.listen(sock)

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._state.connections)

    def close(self) -> None:
        """Accept no more, and end each connection as soon as it is not answering a request."""
        if self._server is not None:
            self._server.close()
        if self._acceptor is not None:
            self._acceptor.close()
        self._state.closed = True
        for connection in tuple(self._state.connections):
            connection.shutdown()

    async def stop(self, seconds: float) -> None:
        """`close`, wait at most so many seconds for the answers being written, then cut the rest off."""
        self.close()
        if self._acceptor is not None:
            await self._acceptor.closed()
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
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            app = _closing(LARGE_HEAD, scope["path"]) if _head_size(scope) > LARGEST_HEAD else self._app
            await app(scope, receive, sending)
        except BaseException as error:
            if not started and not isinstance(error, Exception):  # the app itself answers for those
                await crash_reply(scope["path"])(scope, receive, send)
            raise

    def _connection(self) -> asyncio.Protocol:
        return _Connection(config=self._config, server_state=self._state, app_state={})


def _closing(error: MuleteerError, path: str = "") -> Response:
    reply = error_reply(error, path)
    reply.headers["connection"] = "close"
    return reply


LARGE_HEAD = RequestError(f"The request line and headers exceed {LARGEST_HEAD} bytes; send less.")
_SLOW = _closing(SlowRequestError("The request's headers took too long to arrive; send them at once."))
_NOT_HTTP = _closing(RequestError(f"This is not HTTP/1.1, or its headers exceed {LARGEST_HEAD} bytes."))


def _head_size(scope: Scope) -> int:
    """Bytes, about. h11 limits only a head that comes in pieces."""
    lines = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return lines + len(scope["raw_path"]) + len(scope["query_string"])


class _State(ServerState):
    """uvicorn's record of its connections, and an event for the moment when there are none."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self.limits = limits
        self.numbers = itertools.count()
        self.closed = False
        self.idle = asyncio.Event()
        self.idle.set()

    def admit(self, newcomer: _Connection) -> bool:
        """Whether there is room, and still time. Room is made by ending the oldest connection that is not
        being answered: of the same address, if that has too many."""
        if self.closed:
            return False
        others = [each for each in self.connections if each is not newcomer and isinstance(each, _Connection)]
        same = [each for each in others if each.host and each.host == newcomer.host]
        crowded = len(same) >= self.limits.from_one
        if not crowded and len(self.connections) <= self.limits.connections:
            return True
        silent = [each for each in (same if crowded else others) if not each.is_answered()]
        if not silent:
            return not crowded and len(self.connections) <= self.limits.answered
        oldest = min(silent, key=lambda each: each.number)
        self.connections.discard(oldest)  # it is lost a little later, and must not be chosen again
        oldest.transport.abort()
        return True


class _Connection(H11Protocol):
    """One client. Refuses what is not HTTP in our shape of an error, and notices a hang-up at any time.

    While no request is being answered one of two timers runs: uvicorn's between a reply and the next byte,
    and `_head` from the first byte (at first: from the connection) until the head of a request is there.
    """

    server_state: _State
    number = 0  # of connections before this one
    host = ""  # where the client is, over TCP
    _head: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def is_answered(self) -> bool:
        """A whole request is here, and its reply is not yet."""
        return self._in_request() and not self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        super().connection_made(transport)
        connected = connected_by(transport)
        self.app_state[CONNECTION] = connected
        self.host = connected.address if connected.transport != "unix" else ""
        self.number = next(self.server_state.numbers)
        self.server_state.idle.clear()
        if self.server_state.admit(self):
            self._watch_head()
        else:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        self._forget_stall()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        if not self.connections:
            self.server_state.idle.set()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self.server_state.limits.stall is not None and self._stall is None:
            self._stall = self.loop.call_later(self.server_state.limits.stall, self.transport.abort)

    def resume_writing(self) -> None:
        self._forget_stall()
        super().resume_writing()

    def handle_events(self) -> None:
        super().handle_events()
        if self._in_request():
            self._forget_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        ahead, _ = self.conn.trailing_data
        if len(ahead) > LARGEST_PIPELINE:
            self.transport.abort()
        elif self._in_request():
            if self.flow.read_paused and not self.cycle.more_body:
                self.flow.resume_reading()  # a paused reader would not see the client go
        elif self.timeout_keep_alive_task is None:
            self._watch_head()

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None:  # a body that turned out broken: its request gets no other answer
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._refuse(_NOT_HTTP)

    def _in_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch_head(self) -> None:
        if self._head is None and not self.transport.is_closing():
            self._head = self.loop.call_later(self.server_state.limits.head, self._head_is_late)

    def _forget_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _forget_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _head_is_late(self) -> None:
        begun, _ = self.conn.trailing_data
        if begun:
            self._refuse(_SLOW)
        else:
            self.transport.close()

    def _refuse(self, reply: Response) -> None:
        """Say why, if it is not too late for an answer, and hang up."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            reason = HTTPStatus(reply.status_code).phrase.encode()
            head = h11.Response(status_code=reply.status_code, headers=reply.raw_headers, reason=reason)
            asked_for_head = self.conn.our_state is h11.SEND_RESPONSE and self.scope["method"] == "HEAD"
            body = b"" if asked_for_head else bytes(reply.body)
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
        self.transport.close()
