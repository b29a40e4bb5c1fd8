"""MCP servers and the offline switch in a running daemon: tools come, are called, refused, and end."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.test_daemon import Daemon, daemon, folder
from tests.test_renewing_daemon import Home, becomes, post

__all__ = ["folder"]  # the fixture

pytestmark = pytest.mark.model("tiny")

SERVERS = Path(__file__).parent / "mcp_servers"
FAR = '''
from muleteer.tool import Result, tool

@tool(effect="read", network=True)
def far(word: str) -> Result:
    """Ask somebody far away. Use it for what is far.

    word: any
    """
    return Result.ok(f"far {word}")
'''


def server(name: str, script: str, kind: str) -> str:
    command, args = json.dumps(sys.executable), json.dumps([str(SERVERS / script), kind])
    return f"[mcp.servers.{name}]\ncommand = {command}\nargs = {args}\n"


@pytest.fixture
async def ready(folder: Path) -> AsyncIterator[Daemon]:
    home = Home(folder)
    home.write("tools/far.py", FAR)
    home.write("config.toml", server("ref", "reference.py", "stdio") + server("mute", "odd.py", "silent"))
    async with daemon(folder) as one:
        await one.says("Ready.")  # though one server never says anything
        yield one


async def put(one: Daemon, mode: str) -> Any:
    async with one.client() as client:
        return (await client.put("/v1/offline", json={"mode": mode})).json()


async def test_servers_join_the_switch_is_obeyed_and_programs_end_with_the_daemon(ready: Daemon) -> None:
    tool = await becomes(ready, "tools", lambda tools: tools.get("ref-add"))
    assert (tool["state"], tool["effect"], tool["origin"]) == ("enabled", "read", "MCP server ref")
    called = await post(ready, "tools/ref_add/call", {"arguments": {"a": 2, "b": 40}})
    assert (called["status"], called["text"]) == (200, "The sum is 42.")
    report = (await ready.status())["mcp"]
    assert (report["ref"]["state"], report["mute"]["state"]) == ("ready", "starting")
    programs = [
        each
        for each in psutil.Process(ready.process.pid).children(recursive=True)
        if str(SERVERS) in " ".join(each.cmdline())
    ]
    assert len(programs) == 2

    assert (await put(ready, "on"))["offline"] is True
    refused = await post(ready, "tools/far/call", {"arguments": {"word": "away"}})
    assert refused["text"] == "Offline mode is on, so far cannot use the network."
    assert (await ready.status())["offline"]["mode"] == "on"
    await put(ready, "off")
    assert (await post(ready, "tools/far/call", {"arguments": {"word": "away"}}))["text"] == "far away"

    os.kill(ready.process.pid, signal.SIGTERM)
    assert await ready.ends() == -signal.SIGTERM
    assert not [each for each in programs if each.is_running()]
    assert "cut short" not in ready.log
