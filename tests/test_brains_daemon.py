"""Brains elsewhere in a running daemon: chosen by name, by rule, and given up on; real HTTP everywhere."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.brains.scripted_server import STREAM, Scripted, calls, delta, raw, says, serving, status
from tests.test_daemon import Daemon, daemon, folder
from tests.test_renewing_daemon import Home

__all__ = ["folder"]  # the fixture

pytestmark = pytest.mark.model("tiny")

KEY = "sk-open-sesame"


@asynccontextmanager
async def at_home(folder: Path) -> AsyncIterator[tuple[Daemon, Scripted]]:
    """A daemon whose usual brain is `desk`, flat; `tall` is the same server level by level."""
    async with serving() as server:
        home = Home(folder)
        (folder / "key").write_text(KEY)
        common = f'url = "{server.url}"\nkey_file = "{folder / "key"}"\nretries = 0\nnetwork = true\n'
        home.write(
            "config.toml",
            f'[brains]\ndefault = "desk"\n[brains.servers.desk]\n{common}'
            f'[brains.servers.tall]\n{common}path = "harness"\n[tools]\noffline = "off"\n',
        )
        async with daemon(folder) as one:
            await one.says("Ready.")
            yield one, server


async def turn(one: Daemon, message: str, **more: object) -> list[tuple[str, Any]]:
    """The events of a turn."""
    async with one.client() as client:
        reply = await client.post("/v1/turns", json={"message": message, **more})
        lines = reply.text.splitlines()
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert names, reply.text
    return list(zip(names, data, strict=True))


def brains(events: list[tuple[str, Any]]) -> list[str]:
    return [data["brain"] for name, data in events if name == "brain"]


async def ask(folder: Path, *words: str) -> tuple[str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "muleteer", *words, "--socket", str(folder / "s")),
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return out.decode(), err.decode()


async def test_brains_answer_by_name_and_by_rule(folder: Path) -> None:
    async with at_home(folder) as (one, server):
        # the usual brain, flat: its words, its calls, its tokens
        server.enqueue([says("Hello ", "to you.")])
        events = await turn(one, "hello there")
        assert brains(events) == ["desk"]
        assert events[-1][1]["answer"] == "Hello to you."
        assert events[-1][1]["brains"] == [{"brain": "desk", "reason": ""}]
        assert [level["prompt"] for level in events[-1][1]["levels"]] == [40]
        assert server.heads[-1]["authorization"] == f"Bearer {KEY}"
        shown = {tool["function"]["name"] for tool in server.bodies[-1]["tools"]}
        assert {"current_time", "calculator"} <= shown

        server.script.clear()
        server.enqueue([calls(("calculator", {"expression": "6*7"})), says("It is 42.")])
        events = await turn(one, "how much is 6 times 7")
        assert [data["tool"] for name, data in events if name == "call.finished"] == ["calculator"]
        assert "42" in events[-1][1]["answer"]

        # another by its name, level by level, through the command
        server.script.clear()
        plan, place = ("plan", {"text": "I'll use @current-time."}), ("current_time", {"place": "Istanbul"})
        server.enqueue([calls(plan), calls(place)])
        out, trace = await ask(folder, "ask", "--brain", "tall", "--trace", "What time is it in Istanbul?")
        assert "Istanbul" in out
        assert "brain: tall" in trace
        assert "plan: @current-time" in trace

        # one that fails before anything was done: at home, and why
        server.script.clear()
        server.enqueue([status("500 No")])
        events = await turn(one, "hello again")
        assert brains(events) == ["desk", "local"]
        assert events[-1][0] == "turn.finished"
        assert "500" in events[-1][1]["brains"][-1]["reason"]

        # in the middle of a sentence: what was said is not said again
        server.script.clear()
        server.enqueue([raw(STREAM, *(delta({"content": "Bread is made of flour. "}) for _ in range(30)))])
        events = await turn(one, "how is bread made")
        assert events[-1][0] == "turn.failed"
        assert events[-1][1]["code"] == "brain"

        # rules: offline, by name, and no such brain
        asked = len(server.bodies)
        async with one.client() as client:
            await client.put("/v1/offline", json={"mode": "on"})
        events = await turn(one, "hello offline")
        assert brains(events) == ["local"]
        assert "Offline mode is on" in events[-1][1]["brains"][0]["reason"]
        assert brains(await turn(one, "hello home", brain="local")) == ["local"]
        events = await turn(one, "hello", brain="nobody")
        assert (events[-1][0], events[-1][1]["code"]) == ("turn.failed", "bad_request")
        assert "local, desk, tall" in events[-1][1]["message"]
        assert len(server.bodies) == asked

        report = (await one.status())["brains"]
        assert report["servers"]["desk"]["failures"] == 2
        shown_settings, _ = await ask(folder, "config", "show")
        one.process.terminate()
        await one.ends()
        assert KEY not in f"{report}{shown_settings}{one.log}"
