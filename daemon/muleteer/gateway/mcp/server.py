"""The package `mcp` as our server: from its requests to calls, and back. Imported with the first request.

Both eras of the protocol are spoken: the older with sessions, and the newer where each request stands alone.
A client that goes away, or cancels, ends what it asked for. Knows the protocol; not what is called.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio
from mcp import MCPError
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

import muleteer
from muleteer.errors import CancelledByClientError, TooManyError
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.ears import Ears
from muleteer.gateway.mcp.calling import Answer, Calls
from muleteer.gateway.mcp.offer import Offered
from muleteer.gateway.mcp.sessions import EACH, IDLE_SECONDS, LOCAL, MOST, NETWORK, Owner, Session, Sessions
from muleteer.gateway.peer import Peer, peer_of
from muleteer.gateway.requests import LONGEST_BODY

log = logging.getLogger(__name__)

TELL_SECONDS = 1.0  # to hand a slow client the news that tools have changed
WAITING = 8  # such news for one listener; all say the same
SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"  # without it, a request is of the older era
FAILED = 400  # and above: statuses of an answer that opens no session, and ends none
GONE = 404  # there is no such session any more
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
        self._listeners = ListenHandler(self._bus, max_subscriptions=MOST, max_buffered_events=WAITING)
        self._ears = Ears(EACH, NETWORK, LOCAL)
        self._sessions = Sessions[ServerSession]()  # those that have asked for the tools have a link
        server = _Server(
            "muleteer",
            version=muleteer.__version__,
            title="Muleteer",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=self._listen,
        )
        self.manager = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=IDLE_SECONDS,
            max_sessions=MOST,
            max_request_body_size=LONGEST_BODY,
        )

    async def answer(self, scope: Scope, receive: Receive, send: Send, left: asyncio.Event) -> None:
        """One request over HTTP, whose client goes away when `left` is set. Raises `TooManyError`."""

        async def gone() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        peer, headers = peer_of(scope), Headers(scope=scope)
        scope[LEFT], scope["user"] = gone, _user(_owner(peer))
        ending = None
        if id := headers.get(SESSION_HEADER):
            session = self._sessions.find(_owner(peer), id)
        elif headers.get(VERSION_HEADER, LATEST_HANDSHAKE_VERSION) in HANDSHAKE_PROTOCOL_VERSIONS:
            session, ending = self._sessions.enter(_owner(peer))
        else:
            session = None
        if session is None:
            await self.manager.handle_request(scope, receive, send)
            return
        with self._sessions.asking(session):
            if ending:
                await self._end(ending)
            await self.manager.handle_request(scope, receive, self._noted(session, scope, send))

    def _noted(self, session: Session[ServerSession], scope: Scope, send: Send) -> Send:
        """Whether the session has opened with this answer, or ended."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                went_well = message["status"] < FAILED
                if not session.id and went_well:
                    session.id = Headers(raw=message["headers"]).get(SESSION_HEADER, "")
                elif message["status"] == GONE or (scope["method"] == "DELETE" and went_well):
                    self._sessions.leave(session)
            await send(message)

        return noting

    async def _end(self, session: Session[ServerSession]) -> None:
        """As its client would."""

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            pass

        headers = [(SESSION_HEADER.encode(), session.id.encode())]
        scope = {"type": "http", "method": "DELETE", "path": "/", "query_string": b"", "headers": headers}
        await self.manager.handle_request({**scope, "user": _user(session.owner)}, receive, send)

    async def changed(self) -> None:
        """Tell every client that listens that the tools have changed."""
        await self._bus.publish(ToolsListChanged())
        async with anyio.create_task_group() as group:
            for each in self._sessions:
                if each.link:
                    group.start_soon(_tell, each.link)

    def let_go(self) -> None:
        """End the streams of those who only listen."""
        self._listeners.close()

    async def _list(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        request = _request(context)
        peer, id = peer_of(request.scope), request.headers.get(SESSION_HEADER)
        if id and (session := self._sessions.find(_owner(peer), id)):
            session.link = context.session
        return ListToolsResult(tools=[_tool(each) for each in self._calls.offered(peer)])

    async def _listen(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        try:
            with self._ears.taken(peer_of(_request(context).scope)):
                return await self._listeners(context, params)
        except TooManyError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error

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


def _owner(peer: Peer) -> Owner:
    return Owner(f"{peer.transport} {peer.id}", peer.transport == "unix")


def _user(owner: Owner) -> AuthenticatedUser:
    """An owner as the library knows whose session is whose."""
    return AuthenticatedUser(AccessToken(token="", client_id=owner.id, scopes=[]))


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
