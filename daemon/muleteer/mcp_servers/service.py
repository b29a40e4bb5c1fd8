"""All MCP servers of the settings, in a thread and loop of their own: whatever one of them sends, and however
long it takes to read, the daemon's loop goes on.

Knows when to start and stop them and what to report. The library is imported in that thread, and only when
there are servers.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from muleteer.calling import threads
from muleteer.calling.results import sentence
from muleteer.catalogue.declared import Loaded
from muleteer.mcp_servers.settings import McpSettings

if TYPE_CHECKING:
    from muleteer.mcp_servers.server import Server

log = logging.getLogger(__name__)

MISSING = "MCP servers need the package mcp; install it with `pip install 'muleteer[mcp]'`."

Offered = Callable[[str, tuple[Loaded, ...], Mapping[str, str]], None]


class McpServers:
    """`offered` is called in the loop that `open` was called in, with the origin, the tools and the reasons
    against others, at each change of a server."""

    def __init__(self, settings: McpSettings) -> None:
        self._settings = settings
        self._servers: list[Server] = []
        self._reason = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self._thread: concurrent.futures.Future[None] | None = None

    def open(self, offered: Offered) -> None:
        """Begin to connect, and return at once."""
        if self._settings.servers:
            home = asyncio.get_running_loop()
            self._thread = threads.start(lambda: self._run(home, offered), "mcp servers")

    async def close(self) -> None:
        """End every server and every program that was started for one."""
        thread, loop, main = self._thread, self._loop, self._main
        if thread is None:
            return
        if loop and main and not thread.done():
            loop.call_soon_threadsafe(main.cancel)
        await asyncio.wait({asyncio.wrap_future(thread)})

    def report(self) -> dict[str, object]:
        """For `status`, by server: its state, why it is that, and how many tools it has."""
        if self._reason:
            return {name: {"state": "failed", "reason": self._reason} for name in self._settings.servers}
        return {
            server.name: {
                "state": server.state,
                "reason": server.reason,
                "tools": len(server.tools),
                "refused": len(server.refused),
                "restarts": server.restarts,
            }
            for server in tuple(self._servers)
        }

    def _run(self, home: asyncio.AbstractEventLoop, offered: Offered) -> None:
        """In the thread: an ordinary loop, since only that one starts programs outside of the main thread."""
        try:
            asyncio.run(self._serve(home, offered))
        except asyncio.CancelledError:
            log.debug("The MCP servers are closed.")
        except Exception as error:  # noqa: BLE001  # the daemon does without, and says so
            self._reason = f"The MCP servers have failed: {sentence(error)}"
            log.warning("%s", self._reason)

    async def _serve(self, home: asyncio.AbstractEventLoop, offered: Offered) -> None:
        self._loop, self._main = asyncio.get_running_loop(), asyncio.current_task()
        try:
            from muleteer.mcp_servers.server import Server
        except ModuleNotFoundError as error:
            if error.name not in ("mcp", "mcp_types", "httpx2", "anyio"):
                raise
            self._reason = MISSING
            log.warning("%s", MISSING)
            return

        # It logs what strangers send, with tracebacks; what matters is told by `server.py`.
        logging.getLogger("mcp").setLevel(logging.CRITICAL)

        def changed(server: Server) -> None:
            tools, refused = server.tools, dict(server.refused)
            home.call_soon_threadsafe(offered, f"MCP server {server.name}", tools, refused)

        self._servers = [Server(name, each, changed) for name, each in self._settings.servers.items()]
        async with asyncio.TaskGroup() as group:
            for server in self._servers:
                group.create_task(server.run(), name=f"mcp server {server.name}")
