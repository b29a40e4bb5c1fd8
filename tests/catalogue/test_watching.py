"""Changes in folders are told, whatever becomes of the folders."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from muleteer.catalogue.watching import changes

DEADLINE = 30.0  # seconds; the kernel tells at once, and a busy machine is forgiven


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[AsyncIterator[None]]:
    """The changes of `tmp_path/config/tools`, which is not there yet."""
    async with aclosing(changes([tmp_path / "config" / "tools"], settle=0.0)) as found:
        await anext(found)
        yield found


async def soon(told: AsyncIterator[None]) -> None:
    async with asyncio.timeout(DEADLINE):
        await anext(told)


async def keeps_being_told(told: AsyncIterator[None], path: Path) -> None:
    """More often than earlier changes could still be telling."""
    for number in range(20):
        path.write_text(str(number))  # noqa: ASYNC240  # a test's own loop
        await soon(told)


async def test_a_folder_that_comes_is_watched(told: AsyncIterator[None], tmp_path: Path) -> None:
    folder = tmp_path / "config" / "tools"
    folder.mkdir(parents=True)
    await soon(told)
    path = folder / "one.py"
    await keeps_being_told(told, path)
    for number in range(20):  # more often than earlier changes could still be telling
        path.chmod(0o600 if number % 2 else 0o640)  # a test's own loop
        await soon(told)
    for change in (
        lambda: path.rename(folder / "two.py"),
        lambda: (folder / "two.py").unlink(),
        lambda: (folder / "deep").mkdir(),
    ):
        change()
        await soon(told)


async def test_below_a_folder_that_was_replaced(told: AsyncIterator[None], tmp_path: Path) -> None:
    folder = tmp_path / "config" / "tools"
    for _ in range(2):
        (folder / "skill").mkdir(parents=True)
        await soon(told)
        await keeps_being_told(told, folder / "skill" / "SKILL.md")
        shutil.rmtree(tmp_path / "config")
        await soon(told)


async def test_where_a_link_leads(told: AsyncIterator[None], tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "config" / "tools"
    folder.mkdir(parents=True)
    await soon(told)
    (folder / "skill").symlink_to(elsewhere)
    await soon(told)
    await keeps_being_told(told, elsewhere / "SKILL.md")
