"""`/mcp`: the Model Context Protocol over HTTP, opened with the first request and closed with the daemon.

Knows when the library is loaded (in a thread: it takes half a second of a fast machine), bodies and their
limits, and that a client has left. Does not know the protocol.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from muleteer.broadcast import Broadcast, TooManyListenersError
from muleteer.errors import MissingPackageError, MuleteerError, ShuttingDownError, TooManyError
from muleteer.gateway import replies
from muleteer.gateway.mcp.calling import Calls
from muleteer.gateway.requests import read_body

if TYPE_CHECKING:
    from muleteer.gateway.mcp.server import McpServer

log = logging.getLogger(__name__)

PATH = "/mcp"
CHANGED = "tools.changed"  # the event of the broadcast: skills or tools have changed
MODULE = "muleteer.gateway.mcp.server"
PACKAGES = ("mcp", "mcp_types", "httpx2", "anyio", "sse_starlette")  # the extra, and what comes with it
MISSING = "The MCP server needs the package mcp; install it with `pip install 'muleteer[mcp]'`."
ANSWER_SECONDS = 2.0  # at a stop, for what has ended to be told to the clients


class McpRoute:
    """The path, for as long as the daemon serves."""

    def __init__(self, calls: Calls, broadcast: Broadcast) -> None:
        self._calls, self._broadcast = calls, broadcast
        self._one_at_a_time = asyncio.Lock()
        self._server: McpServer | None = None
        self._serving: asyncio.Task[None] | None = None
        self._ready, self._stopping = asyncio.Event(), asyncio.Event()
        self._answering = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def route(self) -> BaseRoute:
        return Route(PATH, self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            server = await self._opened()
            body = await read_body(Request(scope, receive)) if scope["method"] == "POST" else b""
        except MuleteerError as error:
            await replies.error_reply(error, PATH)(scope, receive, send)
            return
        listens = scope["method"] == "GET"  # until the end: nothing to wait for at a stop
        self._count(not listens)
        left = asyncio.Event()
        try:
            await server.answer(scope, _watched(body, receive, left), send, left)
        except TooManyError as error:  # before anything was sent
            await replies.error_reply(error, PATH)(scope, receive, send)
        finally:
            left.set()
            self._count(-(not listens))

    async def close(self) -> None:
        """Let every client go: those that wait for an answer have a moment to get it."""
        self._stopping.set()
        if self._server:
            self._server.let_go()
        if self._serving:
            await asyncio.wait({self._serving})

    def _count(self, more: int) -> None:
        self._answering += more
        if self._answering:
            self._idle.clear()
        else:
            self._idle.set()

    async def _opened(self) -> McpServer:
        """The server. Raises `MissingPackageError` and `ShuttingDownError`."""
        if self._stopping.is_set():
            raise ShuttingDownError("The daemon is stopping; ask again when it is back.")
        async with self._one_at_a_time:
            if self._server is None:
                self._server = (await _module()).McpServer(self._calls)
                self._serving = asyncio.create_task(self._serve(self._server), name="mcp")
        await self._ready.wait()
        return self._server

    async def _serve(self, server: McpServer) -> None:
        """The library's part, in one task from its beginning to its end."""
        async with server.manager.run():
            telling = asyncio.create_task(self._tell(server.changed), name="mcp: changes")
            self._ready.set()
            await self._stopping.wait()
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._idle.wait()
            except TimeoutError:
                log.warning("%d answers to agents are cut off.", self._answering)
            telling.cancel()
            await asyncio.wait({telling})

    async def _tell(self, changed: Callable[[], Awaitable[None]]) -> None:
        try:
            with self._broadcast.listen() as listener:
                while notice := await listener.next():
                    if notice.name == CHANGED:
                        await changed()
        except TooManyListenersError:
            log.warning("Agents are not told when tools change: too many programs listen for events already.")


async def _module() -> ModuleType:
    """What needs the library. Raises `MissingPackageError`."""
    try:
        return await asyncio.to_thread(importlib.import_module, MODULE)
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise MissingPackageError(MISSING) from error


def _watched(body: bytes, receive: Receive, left: asyncio.Event) -> Receive:
    """The body, which has been read, and then what else the server has to say."""
    bodies = [body]

    async def next_message() -> Message:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        message = await receive()
        if message["type"] == "http.disconnect":
            left.set()
        return message

    return next_message
