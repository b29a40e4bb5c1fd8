"""A gateway of which the network is open as well, and clients of it that are real: httpx, and raw sockets."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.routing import BaseRoute

from muleteer.engine.protocol import Message
from muleteer.gateway.activation import Listeners
from muleteer.gateway.app import Gateway, Report, build_app, no_history
from muleteer.gateway.health import Health
from muleteer.gateway.listening import Listening
from muleteer.gateway.peer import Scope
from muleteer.gateway.sockets import listen_unix
from muleteer.gateway.tokens import token_routes
from muleteer.gateway.turns import Turns
from muleteer.settings.sections import GatewaySettings
from muleteer.skills import Catalogue
from muleteer.store.tokens import Tokens
from tests.gateway.scripted import RawClient, ScriptedHarness, StubEngine

DEVICE = "3f7a" * 8
MOST_TURNS = 8
UNPINNED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
UNPINNED.check_hostname = False
UNPINNED.verify_mode = ssl.CERT_NONE


@dataclass
class Networked:
    """What is served, and everything behind it."""

    listening: Listening
    tokens: Tokens
    harness: ScriptedHarness
    engine: StubEngine
    turns: Turns
    unix: Path
    port: int
    tls: bool

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    async def token(self, *scopes: Scope, name: str = "phone") -> str:
        return await self.tokens.add(name, scopes or ("chat",))

    def client(self, secret: str = "") -> httpx.AsyncClient:
        """One on the network, with a token."""
        headers = {"authorization": f"Bearer {secret}"} if secret else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, verify=UNPINNED, trust_env=False)

    def local(self) -> httpx.AsyncClient:
        """One on the Unix socket."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.unix))
        return httpx.AsyncClient(transport=transport, base_url="http://muleteer")

    @asynccontextmanager
    async def raw(self) -> AsyncIterator[RawClient]:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=UNPINNED if self.tls else None
        )
        try:
            yield RawClient(reader, writer)
        finally:
            writer.transport.abort()


@asynccontextmanager
async def networked(
    folder: Path,
    catalogue: Catalogue,
    tls: bool = False,
    settings: GatewaySettings | None = None,
    more: Sequence[BaseRoute] = (),
    told: Mapping[str, Report] | None = None,
    guests: Callable[[Turns], Sequence[BaseRoute]] = lambda turns: (),
    history: Callable[[str], Awaitable[Sequence[Message]]] = no_history,
) -> AsyncIterator[Networked]:
    """Served on this machine alone, unless `settings` say otherwise; with `more` routes, those of `guests`,
    `told` beside the rest of the status, and the `history` of sessions."""
    harness, engine = ScriptedHarness(), StubEngine()
    health = Health(engine)
    health.enter("ready")
    turns = Turns(harness, health, MOST_TURNS)
    tokens = Tokens(folder / "tokens.db")
    await tokens.open()
    listening = Listening(
        settings or GatewaySettings(listen="loopback", port=0, tls=tls), folder, DEVICE, tokens
    )
    listening.bind(Listeners())
    routes = token_routes(tokens, listening.pairing, listening.where, listening.revoked)
    unix = listen_unix(folder / "s")
    sections = {"network": listening.report, **(told or {})}
    routes += [*more, *guests(turns)]
    gateway = Gateway(
        turns,
        health,
        engine,
        lambda: catalogue,
        "standard",
        unix.path,
        sections=sections,
        routes=routes,
        history=history,
    )
    await listening.serve(build_app(gateway), unix.socket)
    port = listening.report()["port"]
    assert isinstance(port, int)
    try:
        yield Networked(listening, tokens, harness, engine, turns, unix.path, port, tls)
    finally:
        turns.stop()
        await listening.stop(5.0)
        await tokens.close()
        unix.close()
