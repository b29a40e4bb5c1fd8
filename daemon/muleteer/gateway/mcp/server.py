"""The package `mcp` as our server: from its requests to calls, and back. Imported with the first request.

Both eras of the protocol are spoken: the older with sessions, and the newer where each request stands alone.
A client that goes away, or cancels, ends what it asked for. Knows the protocol; not what is called.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

import muleteer
from muleteer.errors import CancelledByClientError
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.mcp.calling import Answer, Calls
from muleteer.gateway.mcp.offer import Offered
from muleteer.gateway.peer import Peer, peer_of
from muleteer.gateway.requests import LONGEST_BODY

log = logging.getLogger(__name__)

SESSIONS = 64  # of the older era; a household's agents have one each, and leave some behind
SESSION_SECONDS = 600.0  # without a request or an open stream, until a session ends
TELL_SECONDS = 1.0  # to hand a slow client the news that tools have changed
WAITING = 8  # such news for one listener; all say the same
SESSION_HEADER = "mcp-session-id"
LEFT = "muleteer.mcp.left"  # in the ASGI scope: a `receive` that says when the client is gone

INSTRUCTIONS = (
    "Muleteer is an assistant on a device in this household. Use `ask` for whatever needs several steps or "
    "the household's own skills; the other tools are called directly."
)
CRASHED = "The call failed inside the daemon; its log says where."

Context = ServerRequestContext[Any, Request]


class _Server(Server[dict[str, Any]]):
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Says that the list of tools may change."""
        told = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


class McpServer:
    """Answers while the `run` of its `manager` is entered."""

    def __init__(self, calls: Calls) -> None:
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs sessions' ids, and what strangers send
        self._calls = calls
        self._bus = InMemorySubscriptionBus()
        self._listeners = ListenHandler(self._bus, max_subscriptions=SESSIONS, max_buffered_events=WAITING)
        self._sessions: dict[str, ServerSession] = {}  # of the older era, that have asked for the tools
        server = _Server(
            "muleteer",
            version=muleteer.__version__,
            title="Muleteer",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=self._listeners,
        )
        self.manager = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=SESSION_SECONDS,
            max_sessions=SESSIONS,
            max_request_body_size=LONGEST_BODY,
        )

    async def answer(self, scope: Scope, receive: Receive, send: Send, left: asyncio.Event) -> None:
        """One request over HTTP, whose client goes away when `left` is set."""

        async def gone() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        scope[LEFT], scope["user"] = gone, _owner(peer_of(scope))
        await self.manager.handle_request(scope, receive, send)

    async def changed(self) -> None:
        """Tell every client that listens that the tools have changed."""
        await self._bus.publish(ToolsListChanged())
        async with anyio.create_task_group() as group:
            for each in self._sessions.values():
                group.start_soon(_tell, each)

    def let_go(self) -> None:
        """End the streams of those who only listen."""
        self._listeners.close()

    async def _list(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if session := _request(context).headers.get(SESSION_HEADER):
            self._sessions[session] = context.session
            while len(self._sessions) > SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return ListToolsResult(
            tools=[_tool(each) for each in self._calls.offered(peer_of(_request(context).scope))]
        )

    async def _call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        async def progress(step: int, said: str) -> None:
            await context.session.report_progress(step, None, said)

        scope = _request(context).scope
        work = self._calls.call(peer_of(scope), params.name, params.arguments or {}, progress)
        try:
            answer = await while_connected(scope[LEFT], work)
        except CancelledByClientError as error:  # nobody is left to be told
            answer = Answer(str(error), failed=True)
        except Exception:
            log.exception("A call of an agent has failed.")
            answer = Answer(CRASHED, failed=True)
        content = [TextContent(text=answer.text)]
        return CallToolResult(content=list(content), structured_content=answer.fields, is_error=answer.failed)


def _owner(peer: Peer) -> AuthenticatedUser:
    """A peer as the library knows whose session is whose."""
    return AuthenticatedUser(AccessToken(token="", client_id=f"{peer.transport} {peer.name}", scopes=[]))


def _request(context: Context) -> Request:
    """The HTTP request, which every message here came with."""
    assert context.request is not None, "it came over HTTP"  # noqa: S101  # for the type checker
    return context.request


async def _tell(session: ServerSession) -> None:
    with anyio.move_on_after(TELL_SECONDS):
        await session.send_tool_list_changed()


def _tool(each: Offered) -> Tool:
    return Tool(
        name=each.name,
        description=each.description,
        input_schema=dict(each.schema),
        output_schema=dict(each.outcome) if each.outcome else None,
        annotations=ToolAnnotations(
            read_only_hint=each.effect == "read",
            destructive_hint=each.effect == "physical",
            open_world_hint=each.network,
        ),
    )
