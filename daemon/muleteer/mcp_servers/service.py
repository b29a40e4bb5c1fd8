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
from muleteer.mcp_servers.settings import McpServerSettings, McpSettings

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
        self._servers: dict[str, tuple[Server, asyncio.Task[None]]] = {}
        self._reason = ""
        self._offered: Offered | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()  # the settings have; of the thread's loop
        self._main: asyncio.Task[None] | None = None
        self._thread: concurrent.futures.Future[None] | None = None

    def open(self, offered: Offered) -> None:
        """Begin to connect, and return at once."""
        self._offered = offered
        self._begin()

    def take_up(self, settings: McpSettings) -> None:
        """Use these servers from now on; one that stays as it was goes on."""
        self._settings = settings
        if self._thread is None or self._thread.done():
            self._begin()
        elif self._loop:
            self._loop.call_soon_threadsafe(self._changed.set)

    def _begin(self) -> None:
        if (offered := self._offered) and self._settings.servers:
            home, self._reason, self._loop = asyncio.get_running_loop(), "", None
            self._thread = threads.start(lambda: self._run(home, offered), "mcp servers")

    async def close(self) -> None:
        """End every server and every program that was started for one."""
        self._offered = None
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
            for server, _ in tuple(self._servers.values())
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
        self._changed = asyncio.Event()
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
            home.call_soon_threadsafe(offered, _origin(server.name), tools, refused)

        running: dict[str, McpServerSettings] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                wanted = dict(self._settings.servers)
                for name in [name for name, each in running.items() if wanted.get(name) != each]:
                    del running[name]
                    _, task = self._servers.pop(name)
                    task.cancel()
                    await asyncio.wait({task})
                    home.call_soon_threadsafe(offered, _origin(name), (), {})
                for name in [name for name in wanted if name not in running]:
                    server = Server(name, wanted[name], changed)
                    task = group.create_task(server.run(), name=f"mcp server {name}")
                    running[name], self._servers[name] = wanted[name], (server, task)
                await self._changed.wait()


def _origin(name: str) -> str:
    """What the toolbox is told of where tools come from."""
    return f"MCP server {name}"
