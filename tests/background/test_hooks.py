"""Results on their way out: to a real program, a real web server, and a broker that speaks MQTT 3.1.1."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from muleteer.background.hooks import Hooks
from muleteer.background.runner import Ended
from muleteer.settings.background import ResultSettings

ENDED = Ended("morning", "2026-11-30T07:00:00Z", "done", "", "It is seven.", "t1", 15)
SAID = {
    "device": "d1",
    "skill": "morning",
    "slot": "2026-11-30T07:00:00Z",
    "state": "done",
    "reason": "",
    "text": "It is seven.",
    "turn": "t1",
    "tokens": 15,
}
KEEP = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"


async def passed_on(hooks: Hooks) -> None:
    """Pass one result on, and wait until everyone was told."""
    hooks.pass_on(ENDED)
    await asyncio.gather(*hooks._running)


async def test_a_command_gets_the_result_on_its_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "said"
    await passed_on(Hooks(ResultSettings(command=(sys.executable, "-c", KEEP, str(path))), "d1"))
    assert json.loads(path.read_text()) == SAID


async def test_a_command_that_hangs_or_fails_is_ended_and_logged(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    await passed_on(Hooks(ResultSettings(command=("sleep", "60"), seconds=1.0), "d1"))
    await passed_on(Hooks(ResultSettings(command=("false",)), "d1"))
    await passed_on(Hooks(ResultSettings(command=(str(tmp_path / "missing"),)), "d1"))
    first, second, third = caplog.messages
    assert first == "results.command took longer than 1 s."
    assert second == "results.command has failed: it ended with 1"
    assert third.startswith("results.command has failed: ")
    assert "It is seven." not in caplog.text


async def serving(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> tuple[asyncio.Server, int]:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


async def test_a_webhook_is_posted_to(caplog: pytest.LogCaptureFixture) -> None:
    got: list[bytes] = []
    status = b"200 OK"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        got.append(head.partition(b"\r\n")[0] + b"|" + await reader.readexactly(length))
        writer.write(b"HTTP/1.1 %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)
        await writer.drain()
        writer.close()

    server, port = await serving(answer)
    async with server:
        hooks = Hooks(ResultSettings(webhook=f"http://127.0.0.1:{port}/told"), "d1")
        await passed_on(hooks)
        status = b"500 No"
        await passed_on(hooks)
    line, _, body = got[0].partition(b"|")
    assert line == b"POST /told HTTP/1.1"
    assert json.loads(body) == SAID
    (message,) = caplog.messages
    assert message.startswith("results.webhook has failed: Server error '500 No'")


async def test_a_broker_gets_it_on_its_topic(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    got: dict[str, bytes] = {}

    async def packet(reader: asyncio.StreamReader) -> tuple[int, bytes]:
        kind = (await reader.readexactly(1))[0]
        length = shift = 0
        while True:
            byte = (await reader.readexactly(1))[0]
            length |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return kind, await reader.readexactly(length)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kind, body = await packet(reader)
        got["connect"] = body
        writer.write(b"\x20\x02\x00\x00")  # CONNACK: accepted
        kind, body = await packet(reader)
        assert kind & 0xF0 == 0x30  # PUBLISH
        size = int.from_bytes(body[:2], "big")
        got["topic"], rest = body[2 : 2 + size], body[2 + size :]
        got["content"] = rest[2:]
        writer.write(b"\x40\x02" + rest[:2])  # PUBACK
        await packet(reader)  # DISCONNECT
        writer.close()

    server, port = await serving(answer)
    async with server:
        settings = ResultSettings(
            mqtt=f"mqtt://127.0.0.1:{port}/home/mule",
            mqtt_user="anna",
            mqtt_password_file=str(tmp_path / "password"),
        )
        await passed_on(Hooks(settings, "d1"))
    assert got["topic"] == b"home/mule"
    assert json.loads(got["content"]) == SAID
    assert b"anna" in got["connect"]
    assert got["connect"].endswith(b"secret")


async def test_closing_gives_up_what_is_still_told() -> None:
    hooks = Hooks(ResultSettings(command=("sleep", "60")), "d1")
    hooks.pass_on(ENDED)
    await asyncio.wait_for(hooks.close(), 5.0)
    assert not hooks._running
