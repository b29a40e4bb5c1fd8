"""Skills and tools change under a running daemon: on disk, and by the user's wish."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.test_daemon import DEADLINE, Daemon, daemon, folder
from tests.test_tool_modules import GOOD

__all__ = ["folder"]  # the fixture

pytestmark = pytest.mark.model("tiny")

SKILL = """---
name: {name}
description: Try {name}.
---
Ask @{mention}.
"""


class Home:
    """The user's folders beside a daemon."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / ".config" / "muleteer"

    def tool(self, name: str, where: str = "here") -> Path:
        return self.write(f"tools/{name}.py", GOOD.format(name=name, where=where))

    def skill(self, name: str, mention: str) -> Path:
        return self.write(f"skills/{name}/SKILL.md", SKILL.format(name=name, mention=mention))

    def write(self, name: str, text: str) -> Path:
        path = self.config / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


async def listed(one: Daemon, kind: str) -> dict[str, Any]:
    async with one.client() as client:
        return {each["handle"]: each for each in (await client.get(f"/v1/{kind}")).json()[kind]}


async def becomes(one: Daemon, kind: str, holds: Callable[[dict[str, Any]], Any]) -> Any:
    """Ask for the list until something `holds` of it; that."""
    async with asyncio.timeout(DEADLINE):
        while not (found := holds(await listed(one, kind))):
            pass
        return found


async def post(one: Daemon, path: str, wish: dict[str, object]) -> Any:
    async with one.client() as client:
        reply = await client.post(f"/v1/{path}", json=wish)
        return reply.json() | {"status": reply.status_code}


@pytest.fixture
async def ready(folder: Path) -> AsyncIterator[Daemon]:
    async with daemon(folder) as one:
        await one.says("Ready.")
        yield one


async def test_folders_that_come_edits_breaks_and_deletions_are_picked_up(
    ready: Daemon, folder: Path
) -> None:
    home = Home(folder)
    assert "lamp" not in await listed(ready, "tools")
    path = home.tool("lamp", "one")
    lamp = await becomes(ready, "tools", lambda tools: "lamp" in tools and tools["lamp"])
    assert (lamp["state"], lamp["origin"]) == ("enabled", str(path.parent))
    assert lamp["tokens"]["planner"] > 0
    assert lamp["tokens"]["agent"] > 0

    path.write_text(GOOD.format(name="lamp", where="two"))
    await becomes(ready, "tools", lambda tools: tools["lamp"]["description"].startswith("Answer from two."))

    path.write_text("1 / 0")
    await ready.says("Using the last good version: ")
    lamp = await becomes(ready, "tools", lambda tools: tools["lamp"]["reason"] and tools["lamp"])
    assert (lamp["state"], lamp["description"][:16]) == ("enabled", "Answer from two.")
    assert lamp["reason"].startswith("the newest version is broken: ")
    assert "division by zero" in lamp["reason"]

    path.write_text(GOOD.format(name="lamp", where="three"))
    await becomes(ready, "tools", lambda tools: not tools["lamp"]["reason"])

    home.skill("evening", "lamp")
    evening = await becomes(ready, "skills", lambda skills: skills.get("evening"))
    assert evening["tools"] == ["lamp"]

    path.unlink()
    await becomes(ready, "tools", lambda tools: "lamp" not in tools)
    assert "@lamp" in (await listed(ready, "skills"))["evening"]["reason"]
    assert "Traceback" not in ready.log


async def test_what_the_user_wishes_holds_at_once_and_after_a_restart(folder: Path) -> None:
    home = Home(folder)
    home.tool("lamp")
    home.skill("evening", "lamp")
    async with daemon(folder) as one:
        await one.says("Ready.")
        renamed = await post(one, "tools/lamp", {"name": "light"})
        assert (renamed["handle"], renamed["on_disk"], renamed["state"]) == ("light", "lamp", "enabled")
        assert (await listed(one, "skills"))["evening"]["tools"] == ["light"]
        assert "lamp" not in await listed(one, "tools")
        off = await post(one, "tools/current-time", {"enabled": False})
        assert off["state"] == "disabled"
        assert off["reason"] == "Turned off; `muleteer tools enable current-time` brings it back."
        refused = await post(one, "skills/evening", {"name": "light"})
        assert refused["error"]["message"] == "@light is a tool already; choose another name for @evening."
        one.process.terminate()
        await one.ends()
        assert "WARNING" not in one.log.split("Ready.")[1]
    async with daemon(folder) as two:
        await two.says("Ready.")
        assert (await listed(two, "tools"))["current-time"]["state"] == "disabled"
        assert (await listed(two, "skills"))["evening"]["tools"] == ["light"]
        on = await post(two, "tools/current_time", {"enabled": True})
        assert (on["state"], on["status"]) == ("enabled", 200)
        back = await post(two, "tools/light", {"name": "lamp"})
        assert back["handle"] == back["on_disk"] == "lamp"
    kept = json.loads((folder / "state" / "steering.json").read_text())
    assert kept == {kind: {"off": [], "names": {}} for kind in ("skills", "tools")}
