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
    missed = [Missed(9, "late", datetime(2026, 11, 30, 8), once=True), Missed(9, "", datetime(2026, 12, 1))]
    await store.save({}, missed)
    await store.close()
    again = TimerStore(tmp_path / "timers.db")
    assert await again.load() == (kept, missed, 0)
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
    assert await store.load() == ([moved], missed[5:], 0)


@pytest.mark.parametrize(
    "column",
    [
        "repeat = 'x'",
        "repeat = 'z9'",
        "repeat = '9'",
        "at = 'noon'",
        "at = 5",
        "at = x'00'",
        "at = '2026-12-01T07:30:00+01:00'",
        "at = '0001-01-01T00:00:00'",
        "at = '9999-12-31T00:00:00'",
        "label = x'00'",
        "boot = x'00'",
        "seconds = 'many'",
        "until = 9e999",
        "due = -9e999",
        "due = 1e300",
    ],
)
@pytest.mark.parametrize("timer", [TEA, UP])
async def test_a_row_that_makes_no_sense_hides_no_other(
    store: TimerStore, tmp_path: Path, column: str, timer: Timer, caplog: pytest.LogCaptureFixture
) -> None:
    kept = [await store.add(TEA), await store.add(timer), await store.add(UP)]
    await damage(store, tmp_path, f"UPDATE timers SET {column} WHERE id = 2")
    assert await store.load() == ([kept[0], kept[2]], [], 1)
    assert "The timer 2 cannot be read" in caplog.text
    assert (await store.add(TEA)).id == 4


async def test_the_only_one_that_makes_no_sense_is_counted(store: TimerStore, tmp_path: Path) -> None:
    await store.add(UP)
    await damage(store, tmp_path, "UPDATE timers SET repeat = 'z9'")
    assert await store.load() == ([], [], 1)


@pytest.mark.parametrize("column", ["id = 'x'", "label = x'00'", "due = 'noon'", "due = 5"])
async def test_a_missed_one_that_makes_no_sense_hides_no_other(
    store: TimerStore, tmp_path: Path, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    missed = [Missed(number, "late", datetime(2026, 11, 30, 8)) for number in (7, 8, 9)]
    await store.save({}, missed)
    await damage(store, tmp_path, f"UPDATE missed SET {column} WHERE id = 8")
    assert await store.load() == ([], [missed[0], missed[2]], 0)
    assert "The missed timer 2 cannot be read" in caplog.text


async def damage(store: TimerStore, tmp_path: Path, statement: str) -> None:
    await store.close()
    connection = sqlite3.connect(tmp_path / "timers.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


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
        timers = (await store.load()).timers
        await store.close()
        return {timer.id for timer in timers}

    kept = asyncio.run(load())
    assert set(said) <= kept
    assert len(kept) <= len(said) + 5
