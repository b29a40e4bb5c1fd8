"""Timers are on disk when they are acknowledged, and come back as they were."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from muleteer.store.database import StoreError
from muleteer.store.timers import TimerStore
from muleteer.timers import MOST_MISSED, Missed, Timer

WRITER = Path(__file__).with_name("timer_writer.py")
TEA = Timer(0, "tea", 300.0, 1300.5, "b1", 1_796_022_300.25)
UP = Timer(0, "up", at=datetime(2026, 12, 1, 7, 30), repeat=frozenset((0, 4)))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[TimerStore]:
    made = TimerStore(tmp_path / "timers.db")
    yield made
    await made.close()


async def test_all_of_a_timer_comes_back(store: TimerStore, tmp_path: Path) -> None:
    kept = [await store.add(TEA), await store.add(UP)]
    missed = [Missed(9, "late", datetime(2026, 11, 30, 8))]
    await store.save({}, missed)
    await store.close()
    again = TimerStore(tmp_path / "timers.db")
    assert await again.load() == (kept, missed)
    await again.close()


async def test_a_number_is_never_given_again(store: TimerStore) -> None:
    first = await store.add(TEA)
    await store.save({first.id: None}, [])
    assert (await store.add(TEA)).id > first.id


async def test_changes_and_the_newest_missed_are_kept(store: TimerStore) -> None:
    one, two = await store.add(TEA), await store.add(UP)
    moved = Timer(two.id, "up", at=datetime(2026, 12, 4, 7, 30), repeat=frozenset((0, 4)))
    missed = [Missed(number, "", datetime(2026, 12, 1)) for number in range(MOST_MISSED + 5)]
    await store.save({one.id: None, two.id: moved}, missed)
    assert await store.load() == ([moved], missed[5:])


@pytest.mark.parametrize("column", ["repeat = 'x'", "at = 'noon'", "at = 5"])
async def test_a_row_that_makes_no_sense_is_told(store: TimerStore, tmp_path: Path, column: str) -> None:
    await store.add(UP)
    await store.close()
    connection = sqlite3.connect(tmp_path / "timers.db")
    connection.execute(f"UPDATE timers SET {column}")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="damaged"):
        await store.load()


def test_killed_it_has_every_timer_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "timers.db"
    said: list[int] = []
    for _ in range(5):
        writer = subprocess.Popen([sys.executable, str(WRITER), str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        said += [int(writer.stdout.readline()) for _ in range(7)]
        writer.kill()
        said += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
        writer.stdout.close()
        writer.wait()

    async def load() -> set[int]:
        store = TimerStore(path)
        timers, _ = await store.load()
        await store.close()
        return {timer.id for timer in timers}

    kept = asyncio.run(load())
    assert set(said) <= kept
    assert len(kept) <= len(said) + 5
