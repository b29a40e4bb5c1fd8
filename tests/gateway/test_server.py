"""Clients that hold connections: each is ended in time, and none keeps another out."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest

from muleteer.gateway.server import Limits
from tests.gateway.conftest import Served
from tests.gateway.scripted import DEADLINE, FINISHED, STARTED, RawClient, connect, post, within

SHORT = 0.05  # seconds
HASTY = pytest.mark.parametrize("limits", [Limits(head=SHORT)], ids=["hasty"])
HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


async def is_told_408(client: RawClient) -> None:
    status, headers, body = await client.reply()
    assert (status, headers["connection"]) == (408, "close")
    assert isinstance(body, dict)
    assert body["error"]["code"] == "request_timeout"
    assert await client.rest() == b""


@HASTY
async def test_silent_connection_is_closed(served: Served) -> None:
    async with connect(served.path) as client:
        assert await client.rest() == b""


@HASTY
@pytest.mark.parametrize("earlier", [b"", HEALTHZ], ids=["first", "second"])
async def test_half_a_head_is_answered_when_its_time_is_over(served: Served, earlier: bytes) -> None:
    async with connect(served.path) as client:
        if earlier:
            await client.send(earlier)
            assert (await client.reply())[0] == 200
        await client.send(b"POST /v1/turns HT")
        await is_told_408(client)


@HASTY
async def test_time_for_the_head_is_not_counted_from_its_last_byte(served: Served) -> None:
    async with connect(served.path) as client:
        rest = asyncio.create_task(client.rest())
        with suppress(ConnectionError):  # a late byte resets the connection
            while not rest.done():
                await client.send(b"X")
                await asyncio.wait({rest}, timeout=SHORT / 10)
            assert (await rest).startswith(b"HTTP/1.1 408 ")
        await asyncio.wait({rest}, timeout=DEADLINE)
        assert rest.done()
        rest.exception()


@HASTY
async def test_time_for_the_head_does_not_run_during_a_turn(served: Served) -> None:
    hold = asyncio.Event()
    served.harness.script = (STARTED, hold, FINISHED)
    async with connect(served.path) as client, connect(served.path) as silent:
        await client.send(post('{"message": "x", "stream": false}'))
        await within(served.harness.waiting)
        assert await silent.rest() == b""  # its time began later, and is over
        hold.set()
        assert (await client.reply())[0] == 200


@pytest.mark.parametrize("body_seconds", [SHORT])
@pytest.mark.parametrize("sent", [b"", b'{"mess'], ids=["nothing", "a part"])
async def test_body_that_does_not_come_is_a_408(served: Served, sent: bytes) -> None:
    async with connect(served.path) as client:
        await client.send(post(b" " * 100)[:-100] + sent)
        await is_told_408(client)
    assert served.harness.asked == []


FEW = pytest.mark.parametrize("limits", [Limits(connections=3, answered=4)], ids=["few"])


@FEW
@pytest.mark.parametrize(
    "sent", [b"", b"POST /v1/turns HT", post(b" " * 100)[:-50]], ids=["silent", "half a head", "half a body"]
)
async def test_newcomer_takes_the_place_of_the_oldest_that_is_not_answered(
    served: Served, sent: bytes
) -> None:
    hold = asyncio.Event()
    served.harness.script = (STARTED, hold, FINISHED)
    async with connect(served.path) as turn, AsyncExitStack() as stack:
        await turn.send(post('{"message": "x", "stream": false}'))
        await within(served.harness.waiting)
        holders = [await stack.enter_async_context(connect(served.path)) for _ in range(2)]
        for holder in holders:
            await holder.send(sent)
        assert (await served.client.get("/healthz")).status_code == 200
        assert await holders[0].rest() == b""
        assert not holders[1].reader.at_eof()
        hold.set()
        assert (await turn.reply())[0] == 200


@FEW
async def test_connections_that_cannot_make_room_end_at_a_limit(served: Served) -> None:
    hold = asyncio.Event()
    served.turns.__init__(served.harness, served.health, 9)  # type: ignore[misc]  # room for all of them
    served.harness.script = (STARTED, hold, FINISHED)
    async with AsyncExitStack() as stack:
        turns = [await stack.enter_async_context(connect(served.path)) for _ in range(3)]
        for turn in turns:
            await turn.send(post('{"message": "x", "stream": false}'))
        await served.counts(running=3)  # asked on a fourth connection
        turns.append(await stack.enter_async_context(connect(served.path)))  # in the place of that
        await turns[3].send(post('{"message": "x", "stream": false}'))
        async with asyncio.timeout(10):
            while served.turns.counts()["running"] < 4:  # noqa: ASYNC110  (a fifth connection could not ask)
                await asyncio.sleep(0)
        async with connect(served.path) as one_too_many:
            assert await one_too_many.rest() == b""
        hold.set()
        assert [(await turn.reply())[0] for turn in turns] == [200] * 4
