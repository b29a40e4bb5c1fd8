"""A reload over real settings files."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from muleteer import config
from muleteer.config import Settings
from muleteer.errors import ConfigError
from muleteer.reloading import Reloading


async def test_what_can_be_taken_up_is_and_the_rest_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[budgets]\nseconds = 60.0\n")
    applied: list[float] = []
    renewed = 0

    def take_up(new: Settings) -> None:
        applied.append(new.budgets.seconds)

    async def renew() -> None:
        nonlocal renewed
        renewed += 1

    reread = partial(config.load, file)
    reloading = Reloading(reread(), reread, {"budgets.seconds": take_up}, renew, lambda: 5)
    assert await reloading.reload() == {"applied": [], "restart": [], "handles": 5}

    file.write_text("[budgets]\nseconds = 90.0\n[engine]\ncontext = 8192\n")
    said = await reloading.reload()
    assert said == {"applied": ["budgets.seconds"], "restart": ["engine.context"], "handles": 5}
    assert applied == [90.0]
    again = await reloading.reload()  # what waits for a restart still does
    assert again == {"applied": [], "restart": ["engine.context"], "handles": 5}

    file.write_text("[budgets]\nseconds = 30.0\nsecond = 1\n")
    with pytest.raises(ConfigError, match=r"budgets\.second"):
        await reloading.reload()
    assert (applied, renewed) == ([90.0], 3)


async def test_a_part_is_told_once_and_is_done_before_skills_and_tools_are_gathered(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("")
    order: list[str] = []

    async def take_up(new: Settings) -> None:
        await asyncio.sleep(0)
        order.append(f"{new.files.most} {new.files.rescan}")

    async def renew() -> None:
        order.append("gathered")

    reread = partial(config.load, file)
    live = {"files.most": take_up, "files.rescan": take_up}
    reloading = Reloading(reread(), reread, live, renew, lambda: 5)
    file.write_text("[files]\nmost = 7\nrescan = 8\n")
    said = await reloading.reload()
    assert (said["applied"], order) == (["files.most", "files.rescan"], ["7 8", "gathered"])
