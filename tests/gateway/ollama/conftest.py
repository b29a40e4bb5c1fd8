"""A gateway on a real Unix socket that Ollama's own client talks to, on a scripted brain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import ollama
import pytest

from muleteer.engine.protocol import EngineStatus, Properties
from muleteer.gateway.access import LocalAccess
from muleteer.gateway.app import Gateway, build_app
from muleteer.gateway.ollama.models import Models
from muleteer.gateway.ollama.routes import ollama_routes
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import listen_unix
from tests.gateway.conftest import folder, pytest_asyncio_loop_factories
from tests.gateway.scripted import DEADLINE
from tests.gateway.visiting import CONTEXT, Visit, visit

__all__ = ["folder", "pytest_asyncio_loop_factories"]

KEEP_ALIVE = 0.02  # seconds
LOADED = Properties(
    name="Qwen",
    path="/m.gguf",
    size=1_000_000,
    context=CONTEXT,
    trained_context=32_768,
    vocabulary=9,
    template_knows_tools=True,
    partial_reuse=True,
    kv_bytes=500,
    threads=4,
    build="AVX2",
    extra_buffers=True,
    load_ms=1.0,
    architecture="qwen2",
    size_label="1.5B",
    file_type=15,
)


@dataclass
class Client:
    """The gateway's clients, and what is behind it. `woken` counts requests for nothing but the model."""

    at: Visit
    ollama: ollama.AsyncClient
    http: httpx.AsyncClient
    path: Path
    woken: list[bool]

    async def post(self, path: str, **body: object) -> tuple[int, Any]:
        """Status and JSON of the reply to a body that is sent as it is."""
        reply = await self.http.post(path, json=body)
        return reply.status_code, reply.json()

    async def running(self, number: int) -> None:
        """Go through the loop until so many turns run."""
        async with asyncio.timeout(DEADLINE):
            while self.at.turns.counts()["running"] != number:
                await self.http.get("/api/version")

    def unload(self) -> None:
        self.at.engine.now = replace(self.at.engine.now, state="unloaded")


@pytest.fixture
async def client(folder: Path) -> AsyncIterator[Client]:
    at, woken = visit(), list[bool]()
    at.engine.now = EngineStatus("ready", properties=LOADED)
    model = folder / "standard.gguf"
    model.write_bytes(b"GGUF and more")
    listener = listen_unix(folder / "s")

    async def wake() -> None:
        woken.append(True)

    models = Models(at.guests, at.engine.status, str(model), folder, CONTEXT, 0.0)
    routes = ollama_routes(at.guests, models, wake, KEEP_ALIVE)
    gateway = Gateway(
        at.turns, at.health, at.engine, lambda: at.house.catalogue, "standard", listener.path, routes=routes
    )
    server = HttpServer(LocalAccess(build_app(gateway), frozenset()))
    await server.start(listener.socket)
    transport = httpx.AsyncHTTPTransport(uds=str(listener.path))
    api = ollama.AsyncClient(host="http://localhost", transport=transport)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        yield Client(at, api, http, listener.path, woken)
    at.turns.stop()
    await server.stop(5.0)
    listener.close()
