"""A gateway on a real Unix socket that OpenAI's own client talks to, on a scripted brain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import httpx2
import openai
import pytest

from muleteer.gateway.access import LocalAccess
from muleteer.gateway.app import Gateway, build_app
from muleteer.gateway.openai.routes import openai_routes
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import listen_unix
from tests.gateway.conftest import folder, pytest_asyncio_loop_factories
from tests.gateway.visiting import Visit, visit

__all__ = ["folder", "pytest_asyncio_loop_factories"]

KEEP_ALIVE = 0.02  # seconds


@dataclass
class Client:
    """The gateway's clients, and what is behind it."""

    at: Visit
    openai: openai.AsyncOpenAI
    http: httpx.AsyncClient
    path: Path
    server: HttpServer

    async def post(self, **body: object) -> tuple[int, dict[str, object]]:
        """Status and error of a body that is sent as it is."""
        reply = await self.http.post("/v1/chat/completions", json=body)
        error: dict[str, object] = reply.json()["error"]
        return reply.status_code, error


@pytest.fixture
async def client(folder: Path) -> AsyncIterator[Client]:
    at = visit()
    listener = listen_unix(folder / "s")
    routes = openai_routes(at.guests, KEEP_ALIVE)
    gateway = Gateway(
        at.turns,
        at.health,
        at.engine,
        lambda: at.house.catalogue,
        "standard",
        listener.path,
        routes=routes,
    )
    server = HttpServer(LocalAccess(build_app(gateway), frozenset()))
    await server.start(listener.socket)
    transport = httpx.AsyncHTTPTransport(uds=str(listener.path))
    own = httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=str(listener.path)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http, own:
        api = openai.AsyncOpenAI(
            base_url="http://localhost/v1", api_key="none", http_client=own, max_retries=0
        )
        yield Client(at, api, http, listener.path, server)
    at.turns.stop()
    await server.stop(5.0)
    listener.close()
