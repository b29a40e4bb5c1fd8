"""Clients on the network that are slow on purpose: two hundred of them do not stop one that is not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from muleteer.gateway import acceptor
from muleteer.gateway.server import NETWORK_LIMITS, Limits
from muleteer.harness.events import TextDelta
from muleteer.skills import Catalogue
from tests.gateway.networked import UNPINNED, Networked, networked
from tests.gateway.scripted import DEADLINE, STARTED, post, within

MANY = 200
# What a slow client says again and again, after a beginning that is never finished.
BEGINNINGS = {
    "nothing": b"",
    "half a head": b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX",
    "half a body": post(b" " * 100)[:-50],
    "half a hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


@pytest.fixture
async def net(request: pytest.FixtureRequest, folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    async with networked(folder, catalogue, request.param) as served:
        yield served


async def slowly(net: Networked, source: str, beginning: bytes, begun: asyncio.Event) -> None:
    """Connect, say a beginning and then a byte now and again; whenever it is cut off, come again."""
    tls = UNPINNED if net.tls and not beginning.startswith(b"\x16") else None
    while True:
        with suppress(OSError, RuntimeError):  # uvloop's word for a connection that is gone already
            _, writer = await asyncio.open_connection(
                "127.0.0.1",
                net.port,
                local_addr=(source, 0),
                ssl=tls,
                ssl_handshake_timeout=DEADLINE if tls else None,
            )
            try:
                writer.write(beginning)
                begun.set()
                while not writer.transport.is_closing():
                    await asyncio.sleep(0.2)
                    writer.write(b"x" if beginning else b"")
            finally:
                writer.transport.abort()
        begun.set()
        await asyncio.sleep(0.2)


@asynccontextmanager
async def besieged(net: Networked, sources: list[str], beginning: bytes) -> AsyncIterator[None]:
    """While as many slow clients as there are sources are there, each of which has begun."""
    begun = [asyncio.Event() for _ in sources]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(slowly(net, source, beginning, each))
            for source, each in zip(sources, begun, strict=True)
        ]
        try:
            async with asyncio.timeout(6 * DEADLINE):
                for each in begun:
                    await each.wait()
            yield
        finally:
            for task in tasks:
                task.cancel()


ONE, EACH = ["127.0.0.2"] * MANY, [f"127.0.1.{number}" for number in range(1, MANY + 1)]
KINDS = [
    (False, "nothing", EACH),
    (False, "half a head", ONE),
    (False, "half a head", EACH),
    (False, "half a body", ONE),
    (True, "half a hello", ONE),
    (True, "half a hello", EACH),
    (True, "half a head", ONE),
]


@pytest.mark.parametrize(
    ("net", "beginning", "sources"),
    [(tls, BEGINNINGS[begun], sources) for tls, begun, sources in KINDS],
    ids=[f"{'tls' if tls else 'tcp'}, {begun}, {len(set(sources))}" for tls, begun, sources in KINDS],
    indirect=["net"],
)
async def test_two_hundred_slow_clients_do_not_stop_a_fast_one(
    net: Networked, sources: list[str], beginning: bytes
) -> None:
    secret = await net.token()
    async with besieged(net, sources, beginning):
        for _ in range(5):
            async with net.client(secret) as client:  # a new connection for each
                reply = await client.post("/v1/turns", json={"message": "x", "stream": False})
                assert reply.status_code == 200
        assert net.listening.connections()["network"] <= NETWORK_LIMITS.answered


@pytest.mark.parametrize("net", [False], ids=["tcp"], indirect=True)
async def test_slow_clients_on_the_network_take_nothing_from_the_unix_socket(net: Networked) -> None:
    async with besieged(net, ONE, b""), net.local() as client:
        assert (await client.get("/healthz")).status_code == 200
        assert net.listening.connections()["unix"] == 1


async def test_one_address_has_its_share_and_no_more(folder: Path, catalogue: Catalogue) -> None:
    async with networked(folder, catalogue) as net, AsyncExitStack() as stack:
        first = await stack.enter_async_context(net.raw())
        for _ in range(NETWORK_LIMITS.from_one):
            await stack.enter_async_context(net.raw())
        assert await first.rest() == b""  # the oldest made room
        assert net.listening.connections()["network"] == NETWORK_LIMITS.from_one


async def test_handshakes_that_are_never_finished_are_ended(
    folder: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "HANDSHAKE_SECONDS", 0.05)
    async with networked(folder, catalogue, tls=True) as net:
        reader, writer = await asyncio.open_connection("127.0.0.1", net.port)
        writer.write(BEGINNINGS["half a hello"])
        async with asyncio.timeout(DEADLINE):
            assert await reader.read() == b""
        writer.close()


async def test_who_does_not_read_is_cut_off_and_the_turn_ends(
    folder: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.gateway.listening.NETWORK_LIMITS", Limits(stall=0.1))
    async with networked(folder, catalogue) as net, net.raw() as client:
        long = TextDelta("x" * 100_000)
        net.harness.script = (STARTED, *[long] * 100, asyncio.Event())  # more than a kernel keeps
        body = b'{"message": "x", "stream": true}'
        await client.send(post(body, f"Authorization: Bearer {await net.token()}"))
        await within(net.harness.freed)


async def test_a_stop_does_not_wait_for_slow_clients(folder: Path, catalogue: Catalogue) -> None:
    async with asyncio.timeout(DEADLINE):
        async with networked(folder, catalogue, tls=True) as net:
            readers = [await asyncio.open_connection("127.0.0.1", net.port) for _ in range(20)]
            async with net.client(await net.token()) as client:
                assert (await client.get("/v1/status")).status_code == 200
    for reader, writer in readers:
        with suppress(OSError):
            await reader.read()
        writer.transport.abort()
    with pytest.raises(httpx.ConnectError):
        async with net.client() as client:
            await client.get("/healthz")
