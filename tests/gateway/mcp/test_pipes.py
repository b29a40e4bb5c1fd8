"""`muleteer mcp` as an agent starts it: a program that is talked to by pipes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ToolListChangedNotification

from muleteer.broadcast import Broadcast
from muleteer.cli.remote import FILE_NAME, Remote, keep
from muleteer.gateway.health import Health
from muleteer.gateway.mcp.calling import Calls
from muleteer.gateway.mcp.route import McpRoute
from muleteer.gateway.turns import Turns
from muleteer.privacy import Privacy
from muleteer.skills import Catalogue
from tests.gateway.mcp.conftest import House, called, kept_of
from tests.gateway.networked import networked
from tests.gateway.scripted import ASKED, FINISHED, LEVEL, STARTED, ScriptedHarness, StubEngine, within


@asynccontextmanager
async def started(house: House, mode: Any, **options: Any) -> AsyncIterator[Client]:
    arguments = ["-m", "muleteer", "mcp", "--socket", str(house.path)]
    program = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(program, mode=mode, cache=None, **options) as client:
        yield client


async def test_an_agent_of_the_older_era(house: House) -> None:
    heard: asyncio.Queue[object] = asyncio.Queue()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.put_nowait(message)

    async with started(house, "legacy", message_handler=hear) as client:
        assert "ask" in str(client.instructions)
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed[:3] == ["ask", "confirm", "search_memory"]
        house.harness.script = (STARTED, LEVEL, ASKED)
        question = await house.call(client, "ask", message="Lamp on")
        assert question.structured_content["status"] == "confirm"
        assert house.progress == [(1, "plan: 6 tokens read (4 known already), 1 written")]
        async with asyncio.timeout(20):
            while heard.empty():  # it begins to listen a little after its start
                house.broadcast.publish("tools.changed", {})
                await client.list_tools()
        house.harness.script = (STARTED, asyncio.Event(), FINISHED)
        asking = asyncio.create_task(called(client, "ask", {"message": "x"}))
        await within(house.harness.waiting)
        asking.cancel()
        await within(house.harness.freed)


async def test_an_agent_of_the_newer_era_outlives_the_daemon(house: House) -> None:
    async with started(house, "auto") as client:
        assert (await called(client, "ask", {"message": "x"})).content[0].text == FINISHED.answer
        await house.route.close()
        await house.server.stop(5.0)
        away = await called(client, "ask", {"message": "x"})
    assert away.is_error
    assert "went away" in away.content[0].text


@pytest.mark.parametrize("tls", [False, True])
async def test_an_agent_here_uses_a_device_elsewhere(
    folder: Path, tmp_path: Path, catalogue: Catalogue, tls: bool
) -> None:
    harness, engine = ScriptedHarness(), StubEngine()
    health = Health(engine)
    health.enter("ready")
    calls = Calls(Turns(harness, health, 1), lambda: catalogue, kept_of, Privacy(), ())
    route = McpRoute(calls, Broadcast())
    async with networked(folder, catalogue, tls, more=[route.route()]) as net:
        fingerprint = str((await net.listening.where())["fingerprint"])
        keep(
            Remote("kitchen", "127.0.0.1", net.port, await net.token("chat"), fingerprint),
            tmp_path / FILE_NAME,
        )
        arguments = ["-m", "muleteer", "--device", "kitchen", "mcp"]
        env = {**os.environ, "MULETEER_STATE": str(tmp_path)}
        program = StdioServerParameters(command=sys.executable, args=arguments, env=env)
        async with Client(program, mode="legacy", cache=None) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["ask", "confirm"]
            answer = await called(client, "ask", {"message": "x"})
            assert answer.content[0].text == FINISHED.answer
        await route.close()


def test_without_a_daemon_it_ends_with_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "muleteer", "mcp", "--socket", str(tmp_path / "none")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.startswith("Error: No daemon answers on ")


def test_without_the_package_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from muleteer.cli import main

    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "muleteer.cli.mcp_pipes", raising=False)
    monkeypatch.setattr("muleteer.cli.client.Daemon.get", lambda *_: {})
    with pytest.raises(SystemExit) as ended:
        main(["mcp"])
    assert ended.value.code == 1
    assert "install it with `pip install 'muleteer[mcp]'`" in capsys.readouterr().err
