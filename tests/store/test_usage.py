"""Use is counted for good, in an order that can be relied on, and never in anybody's way."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from muleteer.store.usage import Usage


async def opened(path: Path) -> Usage:
    usage = Usage(path)
    await usage.open()
    return usage


async def test_the_most_used_goes_first_and_equals_keep_their_order(tmp_path: Path) -> None:
    usage = await opened(tmp_path / "u.db")
    assert usage.by_use(["a", "b", "c"]) == ["a", "b", "c"]
    usage.add(["c", "b"])
    usage.add(["c"])
    assert usage.by_use(["a", "b", "c", "d"]) == ["c", "b", "a", "d"]
    await usage.close()


async def test_counts_outlive_the_process_and_add_up(tmp_path: Path) -> None:
    for _ in range(2):
        usage = await opened(tmp_path / "u.db")
        usage.add(["b"])
        await usage.close()
    usage = await opened(tmp_path / "u.db")
    usage.add(["a"])
    assert usage.by_use(["a", "b"]) == ["b", "a"]
    await usage.close()
    with closing(sqlite3.connect(tmp_path / "u.db")) as connection:
        assert connection.execute("SELECT * FROM uses ORDER BY name").fetchall() == [("a", 1), ("b", 2)]


async def test_it_is_written_behind_the_back_of_whoever_counts(tmp_path: Path) -> None:
    usage = await opened(tmp_path / "u.db")
    writing = asyncio.create_task(usage.run())
    usage.add(["a"])
    async with asyncio.timeout(10):
        while not await stored(tmp_path / "u.db"):
            pass
    writing.cancel()
    await asyncio.wait({writing})
    await usage.close()


async def stored(path: Path) -> list[tuple[str, int]]:
    def read() -> list[tuple[str, int]]:
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute("SELECT * FROM uses").fetchall()

    return await asyncio.to_thread(read)


async def test_a_file_that_cannot_be_used_is_told_once_and_counting_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "u.db"
    path.write_bytes(b"no database" * 100)
    with caplog.at_level(logging.WARNING):
        usage = await opened(path)
        usage.add(["b"])
        await usage.close()
    assert usage.by_use(["a", "b"]) == ["b", "a"]
    (record,) = caplog.records
    assert "is damaged" in record.message
    assert path.read_bytes() == b"no database" * 100


@pytest.mark.parametrize("count", ["'many'", "x'00'", "9e999", "CAST(x'ff' AS TEXT)"])
async def test_rows_that_are_no_counts_are_told_and_all_counts_are_0(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, count: str
) -> None:
    path = tmp_path / "u.db"
    usage = await opened(path)
    usage.add(["b"])
    await usage.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"INSERT INTO uses VALUES ('c', {count})")
        connection.commit()
    usage = await opened(path)
    assert usage.by_use(["a", "b", "c"]) == ["a", "b", "c"]
    await usage.close()
    (record,) = caplog.records
    assert f"{path} is damaged (" in record.message


async def test_what_could_not_be_written_is_written_when_it_can(tmp_path: Path) -> None:
    path = tmp_path / "u.db"
    path.mkdir()
    usage = await opened(path)
    usage.add(["a"])
    await usage.close()
    path.rmdir()
    usage.add(["a"])
    await usage.close()
    assert await stored(path) == [("a", 2)]
