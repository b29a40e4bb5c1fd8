"""A client that leaves frees the engine, whatever it was waiting for and however it left."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from muleteer.gateway.server import LARGEST_HEAD, LARGEST_PIPELINE
from tests.gateway.conftest import Served
from tests.gateway.scripted import FINISHED, LEVEL, STARTED, TEXT, RawClient, connect, post, within


async def leave(client: RawClient, how: str) -> None:
    match how:
        case "close":
            client.writer.close()
        case "shutdown of both sides":
            client.shut_down()
        case "shutdown of the sending side":
            client.writer.write_eof()
        case "close with events unread":  # which resets a Unix socket
            client.writer.close()


HOW = ["close", "shutdown of both sides", "shutdown of the sending side", "close with events unread"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("stream", ["true", "false"])
@pytest.mark.parametrize("phase", ["prefill", "decoding"])
async def test_hang_up_frees_the_engine_in_under_a_second(
    served: Served, how: str, stream: str, phase: str, caplog: pytest.LogCaptureFixture
) -> None:
    so_far = {"prefill": (STARTED,), "decoding": (STARTED, LEVEL, TEXT)}[phase]
    served.harness.script = (*so_far, asyncio.Event())
    async with connect(served.path) as client:
        if "unread" in how:
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a stream's transport reads too
        await client.send(post(f'{{"message": "x", "stream": {stream}}}'))
        await within(served.harness.waiting)
        left = time.monotonic()
        with caplog.at_level(logging.WARNING):
            await leave(client, how)
            await within(served.harness.freed)
        assert time.monotonic() - left < 1.0
    served.harness.script = (STARTED, FINISHED)
    reply = await served.client.post("/v1/turns", json={"message": "x", "stream": False})
    assert reply.status_code == 200
    counts = served.turns.counts()
    assert (counts["running"], counts["finished"], counts["cancelled"]) == (0, 1, 1)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_hang_up_is_noticed_behind_a_pipelined_request(served: Served) -> None:
    served.harness.script = (STARTED, asyncio.Event())
    async with connect(served.path) as client:
        await client.send(post('{"message": "x", "stream": false}'))
        await within(served.harness.waiting)
        await client.send(post('{"message": "y", "stream": false}'))
        client.writer.close()
        await within(served.harness.freed)
    assert [message for message, _ in served.harness.asked] == ["x"]


async def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    async with connect(served.path) as client:
        await client.send(
            post('{"message": "x", "stream": false}') + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        )
        assert [(await client.reply())[0], (await client.reply())[2]] == [200, {"state": "ready"}]
    assert len(served.harness.asked) == 1


async def test_flood_behind_a_running_turn_is_cut_off(served: Served) -> None:
    served.harness.script = (STARTED, asyncio.Event())
    async with connect(served.path) as client:
        await client.send(post('{"message": "x", "stream": false}'))
        await within(served.harness.waiting)
        flood = b"x" * (100 * LARGEST_PIPELINE)
        with pytest.raises(OSError, match=r"[Bb]roken pipe|reset|closed"):
            await client.send(flood)
        await within(served.harness.freed)


async def test_hang_up_while_the_model_loads_takes_no_turn(served: Served) -> None:
    served.health.__init__(served.engine)  # type: ignore[misc]  # a daemon that has just started
    async with connect(served.path) as client:
        await client.send(post('{"message": "x", "stream": false}'))
        await served.counts(waiting=1)
    await served.counts(waiting=0)
    served.health.enter("ready")
    assert (await served.client.get("/healthz")).status_code == 200
    assert served.harness.asked == []


PARTS = [b"POST /v1/", post('{"message": "x"}')[:-5], post("")[:-10], b""]


@pytest.mark.parametrize("sent", PARTS, ids=["in the request line", "in the body", "in the head", "at once"])
async def test_hang_up_in_the_middle_of_a_request_is_nobodys_fault(
    served: Served, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with connect(served.path) as client:
            await client.send(sent)
            client.writer.write_eof()
            assert await client.rest() == b""
        assert (await served.client.get("/healthz")).status_code == 200
    assert served.harness.asked == []
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


NOT_HTTP = {
    "noise": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "a bad length": b"POST /v1/turns HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "two lengths": b"POST /v1/turns HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "a large head in one piece": b"GET / HTTP/1.1\r\nHost: x\r\nX: "
    + b"y" * (LARGEST_HEAD + 1)
    + b"\r\n\r\n",
    "an endless head": b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * (LARGEST_HEAD + 1),
}


@pytest.mark.parametrize("sent", NOT_HTTP.values(), ids=NOT_HTTP)
async def test_what_is_not_http_gets_the_one_shape_and_is_closed(served: Served, sent: bytes) -> None:
    async with connect(served.path) as client:
        await client.send(sent)
        status, headers, body = await client.reply()
        assert (status, headers["connection"]) == (400, "close")
        assert isinstance(body, dict)
        assert body["error"]["code"] == "bad_request"
        assert await client.rest() == b""
    assert (await served.client.get("/healthz")).status_code == 200


CHUNKED = post("").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")


async def test_broken_chunks_in_the_body_take_nothing_down(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        async with connect(served.path) as client:
            await client.send(CHUNKED + b"zz\r\n")
            assert (await client.reply())[0] == 400
            assert await client.rest() == b""
        assert (await served.client.get("/healthz")).status_code == 200
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_body_is_counted_and_not_believed(served: Served) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    async with connect(served.path) as client:
        await client.send(CHUNKED)
        for _ in range(17):
            await client.send(chunk)
        status, _, body = await client.reply()
        assert status == 413
        assert isinstance(body, dict)
        assert body["error"]["code"] == "too_long"


async def test_too_long_a_body_is_refused_before_it_is_sent(served: Served) -> None:
    async with connect(served.path) as client:
        head = post("", "Expect: 100-continue").replace(b"Content-Length: 0", b"Content-Length: 9999999")
        await client.send(head)
        assert (await client.reply())[0] == 413


async def test_expecting_client_is_told_to_continue(served: Served) -> None:
    body = b'{"message": "x", "stream": false}'
    async with connect(served.path) as client:
        await client.send(post(body, "Expect: 100-continue")[: -len(body)])
        assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        await client.send(body)
        assert (await client.reply())[0] == 200
