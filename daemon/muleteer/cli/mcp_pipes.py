"""MCP on standard input and output, passed on to the daemon: at its socket, or on another device.

Each request goes there by itself, so that a daemon that is started again in between is no fault, and one that
the agent cancels ends there, too. Knows the protocol; neither the tools nor what they do.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ListToolsRequest,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

import muleteer
from muleteer.cli.remote import PinnedConnection, Remote
from muleteer.errors import SocketError

VERSION: Literal["2026-07-28"] = "2026-07-28"  # of the protocol to the daemon: each request stands alone
CONNECT_SECONDS = 5.0  # a local socket is connected at once unless its backlog is full
AGAIN_SECONDS = 5.0  # until a daemon that went away is listened to again
ANSWER_LIMIT = 4 << 20  # bytes of one answer; the longest real one, a document and its fields, is under 2 MiB

NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts no certificate: what is not paired is not encrypted

Context = ServerRequestContext[Any, Any]
Reply = TypeVar("Reply", CallToolResult, ListToolsResult)


async def serve(place: Path | Remote) -> None:
    """Until standard input ends. Raises `SocketError` where the daemon offers no MCP."""
    pipes = _Pipes(place)
    try:
        async with pipes.daemon("auto") as client:
            server = pipes.server(client.instructions)
    except Exception as error:  # the library raises groups of what its transports meet
        raise SocketError(f"The daemon on {place} offers no MCP: {_cause(error)}.") from error
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write):
        listening = asyncio.create_task(pipes.listen(), name="listening to the daemon")
        try:
            await server.run(read, write, options)
        finally:
            listening.cancel()
            await asyncio.wait({listening})


class _Pipes:
    def __init__(self, place: Path | Remote) -> None:
        self._place = place
        self._url, self._headers, self._trusted = _way(place)
        self._bus = InMemorySubscriptionBus()
        self._session: ServerSession | None = None

    def server(self, instructions: str | None) -> Server[dict[str, Any]]:
        return Server(
            "muleteer",
            version=muleteer.__version__,
            title="Muleteer",
            instructions=instructions,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus, max_subscriptions=1),
        )

    async def listen(self) -> None:
        """Pass on that tools have changed, as they may have while the daemon was away."""
        lost = False
        while True:
            with suppress(Exception):  # whatever it was, it is tried again
                async with self.daemon() as client, client.listen(tools_list_changed=True) as news:
                    if lost:
                        await self._changed()
                    async for _ in news:
                        await self._changed()
            lost = True
            await asyncio.sleep(AGAIN_SECONDS)

    @asynccontextmanager
    async def daemon(self, mode: Literal["auto", "2026-07-28"] = VERSION) -> AsyncIterator[Client]:
        """A client of the daemon."""
        socket = str(self._place) if isinstance(self._place, Path) else None
        transport = httpx2.AsyncHTTPTransport(uds=socket, verify=self._trusted)
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        async with httpx2.AsyncClient(transport=transport, timeout=timeout, headers=self._headers) as http:
            streams = streamable_http_client(self._url, http_client=http, max_sse_event_size=ANSWER_LIMIT)
            async with Client(streams, mode=mode, cache=None) as client:
                yield client

    async def _list(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        self._session = context.session
        return await self._passed(ListToolsRequest(), ListToolsResult, context)

    async def _call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        asked = CallToolRequestParams(name=params.name, arguments=params.arguments)
        try:
            return await self._passed(CallToolRequest(params=asked), CallToolResult, context)
        except SocketError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)

    async def _passed(
        self, request: CallToolRequest | ListToolsRequest, kind: type[Reply], context: Context
    ) -> Reply:
        """What the daemon says. Raises `MCPError` as it does, `SocketError` where it is away."""
        try:
            async with self.daemon() as client:
                progress = context.session.report_progress
                return await client.session.send_request(request, kind, progress_callback=progress)
        except MCPError:
            raise
        except Exception as error:  # as above
            away = f"The daemon on {self._place} went away ({_cause(error)}); `muleteer status` says more."
            raise SocketError(away) from error

    async def _changed(self) -> None:
        await self._bus.publish(ToolsListChanged())
        if self._session:
            await self._session.send_tool_list_changed()


def _way(place: Path | Remote) -> tuple[str, dict[str, str], ssl.SSLContext]:
    """Address, headers, and which certificate is trusted: of another device, the one that it was paired with.
    Raises `SocketError` and `OSError`."""
    if isinstance(place, Path):
        return "http://localhost/mcp", {}, NOBODY
    host = f"[{place.host}]" if ":" in place.host else place.host
    address, headers = f"{host}:{place.port}/mcp", {"authorization": f"Bearer {place.token}"}
    if not place.fingerprint:
        return f"http://{address}", headers, NOBODY
    with closing(PinnedConnection(place.host, place.port, place.fingerprint, CONNECT_SECONDS)) as connection:
        connection.connect()
        certificate = connection.sock.getpeercert(binary_form=True)
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusted.check_hostname = False  # nobody has signed it, so its name says nothing
    trusted.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trusted.load_verify_locations(cadata=certificate)
    return f"https://{address}", headers, trusted


def _cause(error: BaseException) -> str:
    """The first of what a group holds."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
