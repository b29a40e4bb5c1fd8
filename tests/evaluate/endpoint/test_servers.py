"""Our side of the comparison: a daemon of its own behind a loopback port, gone with the block."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
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


RUN = """
import asyncio, sys
from pathlib import Path
from muleteer.evaluate.endpoint import servers

async def main():
    async with servers.ours(Path(sys.argv[1]), 1, Path(sys.argv[2])) as address:
        print(address, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def has_ended(process: int) -> bool:
    """Within the time that a daemon has for it."""
    return bool(select.select([process], [], [], servers.STOP_S)[0])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's end")
@pytest.mark.model("tiny")
async def test_no_process_outlives_a_run_that_is_ended_from_outside(tmp_path: Path) -> None:
    run = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", RUN, str(models.resolve("tiny")), str(tmp_path)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert run.stdout
    assert (await run.stdout.readline()).startswith(b"http://127.0.0.1:")
    (daemon,) = children(run.pid)
    left = [os.pidfd_open(each) for each in (daemon, *children(daemon))]
    assert len(left) > 1, "the daemon has its engine"
    run.terminate()
    assert await run.wait() == -signal.SIGTERM
    stays = [each for each in left if not await asyncio.to_thread(has_ended, each)]
    for each in stays:
        signal.pidfd_send_signal(each, signal.SIGKILL)
    for each in left:
        os.close(each)
    assert stays == []


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
