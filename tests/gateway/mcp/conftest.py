"""`/mcp` of a gateway with a scripted harness on a real socket, and the library's own client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from muleteer.broadcast import Broadcast
from muleteer.catalogue.loading import Library
from muleteer.engine.protocol import Message
from muleteer.gateway.app import Gateway, build_app
from muleteer.gateway.health import Health
from muleteer.gateway.mcp.calling import Calls
from muleteer.gateway.mcp.route import McpRoute
from muleteer.gateway.peer import EVERYTHING, KEY, LOCAL, Peer
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import listen_unix
from muleteer.gateway.turns import Turns
from muleteer.paths import share_dir
from muleteer.privacy import HomeMemory, Privacy
from muleteer.services import Note, PastTurn
from muleteer.skills import Catalogue, load_catalogue
from muleteer.tool import Services
from muleteer.toolbox import Toolbox
from tests.gateway.scripted import DEADLINE, ScriptedHarness, StubEngine

OWNER = Peer("local", EVERYTHING, "unix", "uid 1000", LOCAL)
AGENT = Peer("agent", frozenset({"chat", "tools"}), "tcp", "192.0.2.7", "a1")
TALKER = Peer("talker", frozenset({"chat"}), "tcp", "192.0.2.8", "b2")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODES = ("legacy", "auto")
SHIPPED = Library([share_dir() / "tools"])  # whose files are run once for all tests

DIARY = """---
name: diary
description: Read the diary.
metadata:
  private: true
---
Ask @check-notebook.
"""


class Kept:
    """A notebook and a memory with one entry each, and what was added."""

    def __init__(self) -> None:
        self.added: list[str] = []

    async def add(self, text: str, page: str = "") -> Note:
        self.added.append(text)
        return Note(text, NOON)

    async def search(self, query: str, limit: int = 8, when: str = "") -> list[Any]:
        if when or query == "turns":
            return [PastTurn("Where is the cat?", "The cat is in the shed, as always.", NOON, session="s1")]
        return [Note("The key is under the pot.", NOON)]


class Turned(Kept):
    async def search(self, query: str, limit: int = 8, when: str = "") -> list[Any]:
        return await super().search("turns")


@dataclass
class House:
    """What is behind `/mcp`. `peer` is who asks next."""

    path: Path
    harness: ScriptedHarness
    turns: Turns
    broadcast: Broadcast
    privacy: Privacy
    notes: Kept
    route: McpRoute
    server: HttpServer
    catalogue: Catalogue
    peer: Peer = OWNER
    progress: list[tuple[float, str | None]] = field(default_factory=list)

    @asynccontextmanager
    async def client(self, mode: Any = "auto", **options: Any) -> AsyncIterator[Client]:
        """The library's client, of the older (`legacy`) or the newer era."""
        transport = httpx2.AsyncHTTPTransport(uds=str(self.path))
        async with httpx2.AsyncClient(transport=transport, timeout=DEADLINE) as http:
            streams = streamable_http_client("http://localhost/mcp", http_client=http)
            async with Client(streams, mode=mode, cache=None, **options) as client:
                yield client

    async def call(self, client: Client, name: str, **arguments: object) -> Any:
        async def progress(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, message))

        return await client.call_tool(name, arguments, progress_callback=progress)


async def called(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    return await client.call_tool(name, arguments)


async def kept_of(session: str) -> Sequence[Message]:
    return (Message("user", f"said in {session}"),) if session else ()


@pytest.fixture
def ask_before() -> tuple[str, ...]:
    return ("physical",)


@pytest.fixture
async def house(folder: Path, ask_before: tuple[str, ...]) -> AsyncIterator[House]:
    harness, engine, broadcast, privacy = ScriptedHarness(), StubEngine(), Broadcast(), Privacy()
    notes = Kept()
    services = Services(notebook=notes, memory=HomeMemory(Turned(), privacy))
    diary = folder / "skills" / "diary"
    diary.mkdir(parents=True)
    (diary / "SKILL.md").write_text(DIARY)
    toolbox = Toolbox(services, SHIPPED.read())
    catalogue = load_catalogue([diary.parent], toolbox)
    health = Health(engine)
    health.enter("ready")
    turns = Turns(harness, health, 4)

    made: list[House] = []
    calls = Calls(turns, lambda: made[0].catalogue, kept_of, privacy, ask_before)
    route = McpRoute(calls, broadcast)
    listener = listen_unix(folder / "s")
    gateway = Gateway(
        turns, health, engine, lambda: made[0].catalogue, "x", listener.path, routes=[route.route()]
    )
    app = build_app(gateway)

    async def known(scope: Scope, receive: Receive, send: Send) -> None:
        scope[KEY] = made[0].peer
        await app(scope, receive, send)

    server = HttpServer(known)
    await server.start(listener.socket)
    made.append(House(listener.path, harness, turns, broadcast, privacy, notes, route, server, catalogue))
    yield made[0]
    turns.stop()
    await route.close()
    await server.stop(5.0)
    listener.close()
