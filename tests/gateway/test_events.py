"""The daemon's events over a real socket: as they happen, for as long as somebody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from muleteer.broadcast import MOST_LISTENERS, Broadcast
from muleteer.gateway.events import EACH, events_route
from muleteer.gateway.peer import EVERYTHING, KEY, LOCAL, Peer
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import listen_unix
from tests.gateway.scripted import DEADLINE, RawClient, connect

ASK = b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
KEEP_ALIVE = 0.01  # seconds


@pytest.fixture
def broadcast() -> Broadcast:
    return Broadcast()


@pytest.fixture
def peers() -> list[Peer]:
    """Who asks; the last of them asks next."""
    return [Peer("local", EVERYTHING, "unix", "uid 1000", LOCAL)]


@pytest.fixture
async def path(folder: Path, broadcast: Broadcast, peers: list[Peer]) -> AsyncIterator[Path]:
    listener = listen_unix(folder / "s")
    app = Starlette(routes=[events_route(broadcast, KEEP_ALIVE)])

    async def known(scope: Scope, receive: Receive, send: Send) -> None:
        scope[KEY] = peers[-1]
        await app(scope, receive, send)

    server = HttpServer(known)
    await server.start(listener.socket)
    yield listener.path
    broadcast.close()
    await server.stop(5.0)
    listener.close()


async def listening(client: RawClient) -> None:
    await client.send(ASK)
    assert b"text/event-stream" in await client.until(b": listening\n\n")


async def test_events_are_heard_as_they_happen(path: Path, broadcast: Broadcast) -> None:
    async with connect(path) as one, connect(path) as two:
        await listening(one)
        await listening(two)
        broadcast.publish("timer.rang", {"id": 3, "label": "tea\n…"})
        for client in (one, two):
            heard = await client.until(b"}\n\n")
            assert 'event: timer.rang\ndata: {"id":3,"label":"tea\\n…"}\n\n'.encode() in heard


async def test_a_silent_stream_is_kept_alive_and_ends_with_the_daemon(
    path: Path, broadcast: Broadcast
) -> None:
    async with connect(path) as client:
        await listening(client)
        await client.until(b": keep-alive\n\n")
        broadcast.close()
        assert (await client.until(b"0\r\n\r\n")).endswith(b"0\r\n\r\n")


async def test_who_leaves_makes_room_and_too_many_are_told(path: Path, broadcast: Broadcast) -> None:
    blocks = [broadcast.listen() for _ in range(MOST_LISTENERS - 1)]
    for block in blocks:
        block.__enter__()
    async with connect(path) as first:
        await listening(first)
        async with connect(path) as second:
            await second.send(ASK)
            status, headers, body = await second.reply()
            assert (status, headers["retry-after"]) == (503, "5")
            assert "Too many programs listen" in str(body)
        first.shut_down()
        async with asyncio.timeout(DEADLINE):
            while True:
                async with connect(path) as third:
                    await third.send(ASK)
                    if b" 200 " in await third.until(b"\r\n"):
                        break


async def test_one_token_that_listens_without_end_leaves_room_for_others(
    path: Path, peers: list[Peer]
) -> None:
    async with AsyncExitStack() as stack:
        peers.append(Peer("page", frozenset({"tools"}), "tls", "192.0.2.1", "a"))
        for _ in range(EACH):
            await listening(await stack.enter_async_context(connect(path)))
        more = await stack.enter_async_context(connect(path))
        await more.send(ASK)
        status, _, body = await more.reply()
        assert status == 429
        assert "8 streams listen for changes already; end one of them first." in str(body)
        for other in (Peer("page", frozenset({"tools"}), "tls", "192.0.2.1", "b"), peers[0]):
            peers.append(other)
            await listening(await stack.enter_async_context(connect(path)))
