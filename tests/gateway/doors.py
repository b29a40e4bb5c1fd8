"""An application behind the real doors: the Unix socket, and a TCP port that wants a token."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.types import ASGIApp

from muleteer.gateway.access import LocalAccess, NetworkAccess
from muleteer.gateway.peer import Scope
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import listen_unix


@dataclass(frozen=True, slots=True)
class Token:
    name: str
    scopes: frozenset[Scope]


class Ring:
    """Tokens by their secret: a name, and scopes by spaces."""

    def __init__(self, tokens: Mapping[str, tuple[str, tuple[Scope, ...]]]) -> None:
        self._tokens = {secret: Token(name, frozenset(scopes)) for secret, (name, scopes) in tokens.items()}

    def find(self, secret: str) -> Token | None:
        return self._tokens.get(secret)


TOKENS: dict[str, tuple[str, tuple[Scope, ...]]] = {
    "ada": ("phone", ("chat",)),
    "bob": ("tablet", ("chat",)),
    "eve": ("desk", ("admin",)),
}


@dataclass
class Doors:
    """`local` asks over the Unix socket, `remote` is a client of one of `TOKENS`."""

    path: Path
    port: int
    local: httpx.AsyncClient
    _stack: AsyncExitStack

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def remote(self, secret: str) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {secret}"}
        return await self._stack.enter_async_context(httpx.AsyncClient(base_url=self.url, headers=headers))


@asynccontextmanager
async def open_doors(app: ASGIApp, path: Path) -> AsyncIterator[Doors]:
    local, network = (
        HttpServer(LocalAccess(app, frozenset())),
        HttpServer(NetworkAccess(app, Ring(TOKENS), frozenset())),
    )
    listener = listen_unix(path)
    port = socket.create_server(("127.0.0.1", 0))
    await local.start(listener.socket)
    network.start_tcp([port], None)
    async with AsyncExitStack() as stack:
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        await stack.enter_async_context(client)
        yield Doors(path, port.getsockname()[1], client, stack)
    for server in (network, local):
        await server.stop(5.0)
    listener.close()
