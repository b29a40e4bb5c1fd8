"""The life of one MCP server: connect, list its tools, follow changes, and connect again when it is gone.

Knows the library's client and how long to wait; knows nothing of the toolbox. All of it runs in the loop of
`service.py`'s thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Literal

import mcp_types
from mcp import Client, MCPError
from mcp.client._transport import Transport, TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import PARSE_ERROR, REQUEST_TIMEOUT
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

import muleteer
from muleteer import bearer
from muleteer.calling.results import late, sentence, unsure
from muleteer.catalogue.declared import Loaded
from muleteer.errors import SkillError
from muleteer.mcp_servers import http, stdio
from muleteer.mcp_servers.answers import result_of
from muleteer.mcp_servers.definitions import Defined, Rules, made, tool_name
from muleteer.mcp_servers.settings import McpServerSettings
from muleteer.mcp_servers.sieve import Refuse, Sieve
from muleteer.tool import Effect, Result

log = logging.getLogger(__name__)

State = Literal["starting", "ready", "waiting"]

START_SECONDS = 30.0  # to connect and to list; a program that is fetched when first started takes that
FIRST_PAUSE = 1.0  # seconds before the first new try, doubled each time
LONGEST_PAUSE = 300.0  # seconds; a server that comes back after a night is found within five minutes
STEADY_SECONDS = 60.0  # of life after which a server counts as healthy again
MOST_TOOLS = 64  # of one server; a menu of more is beyond any small model
MOST_PAGES = 16  # of a list; one that never ends must
RELIST_SECONDS = 1.0  # before a look at a list that has changed, doubled each time: new tools are measured
QUIET_SECONDS = 300.0  # without news after which it is RELIST_SECONDS again
# What the library says when the connection, not the tool, is at fault; see its streamable HTTP client.
GONE = frozenset({"Connection closed", "Session terminated", "Server returned an error response"})

Pause = Callable[[float], Awaitable[None]]


class Server:
    """One server by its name in the settings, made in the loop that it runs in. `changed` is called when
    `tools` or `refused` (reasons by tool name) are others."""

    def __init__(
        self,
        name: str,
        settings: McpServerSettings,
        changed: Callable[[Server], None],
        pause: Pause = asyncio.sleep,
    ) -> None:
        self.name, self._settings = name, settings
        self._changed, self._pause = changed, pause
        self._rules = Rules(settings.effect or None, settings.uses_network, settings.seconds)
        self._home = asyncio.get_running_loop()
        self._client: Client | None = None
        self._news, self._lost, self._gone = asyncio.Event(), asyncio.Event(), ""
        self._known: dict[str, tuple[Defined, Loaded]] = {}
        self.state: State = "starting"
        self.reason = "is starting"
        self.restarts = 0
        self._refusing: dict[str, str] = {}
        self.tools: tuple[Loaded, ...] = ()
        self.refused: dict[str, str] = {}

    async def run(self) -> None:
        """Keep it connected until cancelled."""
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        while True:
            began = loop.time()
            try:
                await self._serve()
            except Exception as error:  # noqa: BLE001  # whatever a server makes the library raise
                self.reason = self._gone or _in_words(error)
            self._client, self.state = None, "waiting"
            self.restarts += 1
            pause = FIRST_PAUSE if loop.time() - began > STEADY_SECONDS else pause
            told = log.warning if pause == FIRST_PAUSE else log.debug
            told("The MCP server %s %s; next try in %g s.", self.name, self.reason, pause)
            await self._pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def call(self, name: str, given: Mapping[str, object]) -> Result:
        """One call by the server's own name for the tool."""
        if self._client is None:
            return Result.unavailable(f"The server {self.name} {self.reason}, so {name} cannot be used now.")
        shown = tool_name(self.name, name)
        effect = self._known[shown][1].tool.effect if shown in self._known else "write"
        try:
            answer = await self._client.call_tool(name, dict(given), self._settings.seconds)
        except MCPError as error:
            if error.message in GONE:
                self._lose("does not answer any more")
                said = f"The server {self.name} went away during the call of {shown}."
                return Result.unavailable(unsure(said, effect))
            if error.code == REQUEST_TIMEOUT:
                return late(shown, self._settings.seconds, effect)
            if error.code == PARSE_ERROR:
                return _unreadable(shown, effect)
            return Result.error(f"{shown} was refused by its server: {sentence(ValueError(error.message))}")
        except Exception as error:  # noqa: BLE001  # answers that break the protocol raise of every kind
            log.debug("The MCP server %s answered a call of %s wrongly: %s", self.name, name, sentence(error))
            return _unreadable(shown, effect)
        return result_of(shown, self.name, answer.content, answer.structured_content, answer.is_error)

    async def _serve(self) -> None:
        """One connection, to its end. Raises whatever ended it."""
        self._news.clear()
        self._lost.clear()
        self._gone = ""
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(START_SECONDS):
                    client = await stack.enter_async_context(self._connect())
                    await self._list(client)
            except TimeoutError:
                raise ConnectionError(f"did not start within {START_SECONDS:g} s") from None
            self._client, self.state, self.reason = client, "ready", ""
            log.info("The MCP server %s is ready: %d tools.", self.name, len(self.tools))
            listening = asyncio.create_task(self._listen(client))
            try:
                await self._follow(client)
            finally:
                listening.cancel()
                self._client = None
        raise ConnectionError(self._gone)

    async def _follow(self, client: Client) -> None:
        """Look again whenever there is news, ever more seldom where that does not end, until it is lost."""
        loop, pause = asyncio.get_running_loop(), RELIST_SECONDS
        while not self._gone:
            looked = loop.time()
            await self._news.wait()
            if loop.time() - looked > QUIET_SECONDS:
                pause = RELIST_SECONDS
            await self._rest(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            self._news.clear()
            if not self._gone:
                await self._list(client)

    async def _rest(self, seconds: float) -> None:
        """Pause, but not after the connection was lost."""
        both = [asyncio.ensure_future(each) for each in (self._pause(seconds), self._lost.wait())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in both:
                each.cancel()

    def _connect(self) -> Client:
        information = mcp_types.Implementation(name="muleteer", version=muleteer.__version__)
        return Client(
            self._transport(),
            client_info=information,
            cache=None,
            read_timeout_seconds=START_SECONDS,
            message_handler=self._told,
        )

    def _transport(self) -> Transport:
        settings = self._settings
        if settings.command:
            env = stdio.environment(os.environ, settings.env, settings.inherit)
            streams = stdio.talking((settings.command, *settings.args), env, self._lose)
        else:
            streams = _asking(settings)
        return _sieved(streams, self._refuse)

    def _refuse(self, name: str, reason: str) -> None:
        """One of the list that is being read is no tool; no word about those that nobody wants."""
        if self._settings.tools and name not in self._settings.tools:
            return
        label = "".join(each for each in name[:80] if each.isprintable())
        sentence = f"{label} of the MCP server {self.name} is not usable: {reason}"
        self._refusing[f"{self.name}: {label}"] = sentence

    async def _told(self, message: object) -> None:
        """The server says something of its own accord."""
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._news.set()

    async def _listen(self, client: Client) -> None:
        """Ask to be told of changes, where the protocol wants that asked for."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with suppress(MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError):
            async with client.listen(tools_list_changed=True) as changes:
                self._news.set()  # what changed since the list was read was told to nobody
                async for _ in changes:
                    self._news.set()

    def _lose(self, why: str) -> None:
        """The connection is of no use any more."""
        self._gone = self._gone or why
        self._lost.set()
        self._news.set()

    async def _list(self, client: Client) -> None:
        """Read the whole list, and tell when it is another one."""
        self._refusing = {}
        found: list[mcp_types.Tool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
        before = self.tools, self.refused
        await asyncio.to_thread(self._take, [_defined(each) for each in found])
        if (self.tools, self.refused) != before:
            self._changed(self)

    def _take(self, found: Sequence[Defined]) -> None:
        """Make tools of the list; those that are as before stay the same objects."""
        tools: dict[str, Loaded] = {}
        refused = self._refusing
        known: dict[str, tuple[Defined, Loaded]] = {}
        wanted = self._settings.tools
        missing = [each for each in wanted if each not in {one.name for one in found}]
        for each in missing:
            refused[f"{self.name}: {each[:80]}"] = f"The MCP server {self.name} has no tool {each[:80]!r}."
        chosen = [each for each in found if not wanted or each.name in wanted]
        for defined in chosen[:MOST_TOOLS]:
            try:
                name = tool_name(self.name, defined.name)
                if name in tools:
                    raise SkillError("another tool of its server has the same name here.")
                old = self._known.get(name)
                loaded = old[1] if old and old[0] == defined else self._made(defined)
            except SkillError as error:
                self._refuse(defined.name, str(error))
                continue
            tools[name], known[name] = loaded, (defined, loaded)
        if len(chosen) > MOST_TOOLS:
            refused[f"{self.name}: the rest"] = (
                f"The MCP server {self.name} has more than {MOST_TOOLS} tools; name those that you want in "
                f"mcp.servers.{self.name}.tools."
            )
        self._known, self.tools, self.refused = known, tuple(tools.values()), refused

    def _made(self, defined: Defined) -> Loaded:
        home = self._home

        async def call(name: str, given: Mapping[str, object]) -> Result:
            """From the loop of the tool's own thread into the one that the server lives in."""
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.call(name, given), home))

        return made(self.name, defined, self._rules, call)


def _unreadable(tool: str, effect: Effect) -> Result:
    """In our words; those of the library are about its own classes."""
    return Result.error(unsure(f"{tool} gave an answer that breaks the protocol.", effect))


def _defined(tool: mcp_types.Tool) -> Defined:
    notes = tool.annotations
    schema: Mapping[str, Any] = tool.input_schema
    words = tool.description or tool.title or ""
    return Defined(tool.name, words, schema, bool(notes and notes.read_only_hint))


@asynccontextmanager
async def _asking(settings: McpServerSettings) -> AsyncIterator[TransportStreams]:
    """The streams to a server over HTTP, with a client of its own."""
    secret = await asyncio.to_thread(bearer.secret_of, settings.token_variable, settings.token_file)
    async with (
        http.client(secret) as client,
        streamable_http_client(settings.url, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _sieved(
    streams: AbstractAsyncContextManager[TransportStreams], refuse: Refuse
) -> AsyncIterator[TransportStreams]:
    async with streams as (reading, writing):
        yield Sieve(reading, refuse), writing


def _in_words(error: BaseException) -> str:
    """Why a connection ended, to follow the server's name."""
    while isinstance(error, BaseExceptionGroup):  # of the library's task groups; the first is the cause
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError | PermissionError) and error.filename:
        return f"cannot be started ({error.strerror}: {error.filename})"
    words = str(error)
    if type(error) is ConnectionError:
        return words
    if isinstance(error, ValidationError) or (isinstance(error, MCPError) and error.code == PARSE_ERROR):
        return "cannot be used (it gave an answer that breaks the protocol)"
    return f"cannot be used ({sentence(ValueError(words or type(error).__name__)).rstrip('.')})"
