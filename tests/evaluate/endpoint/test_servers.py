"""Our side of the comparison: a daemon of its own behind a loopback port, gone with the block."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from muleteer.engine import models
from muleteer.errors import EngineError
from muleteer.evaluate.endpoint import servers


@pytest.mark.model("tiny")
async def test_a_daemon_is_reached_through_its_port_until_the_block_ends(tmp_path: Path) -> None:
    async with (
        servers.ours(models.resolve("tiny"), 1, tmp_path) as address,
        httpx.AsyncClient(base_url=address, timeout=60, trust_env=False) as http,
    ):
        assert (await http.get("/healthz")).json()["state"] == "ready"
        listed = (await http.get("/v1/tools")).json()
        assert [each["name"] for each in listed["tools"] if each["state"] == "enabled"] == ["current_time"]
    async with httpx.AsyncClient(base_url=address, trust_env=False) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get("/healthz")


async def test_the_port_ends_the_connections_that_go_through_it(tmp_path: Path) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    async with await asyncio.start_unix_server(echo, tmp_path / "socket"):
        async with servers._door(tmp_path / "socket") as address:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rsplit(":", 1)[1]))
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"hello"
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


async def test_a_daemon_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"The daemon ended: .*nothing\.gguf"):
        async with servers.ours(tmp_path / "nothing.gguf", 1, tmp_path):
            pass
