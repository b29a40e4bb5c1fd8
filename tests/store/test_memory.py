"""Past turns: found by words and dates, bounded by age and number, and gone when they are forgotten."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muleteer.store import database
from muleteer.store import memory as module
from muleteer.store.database import StoreError
from muleteer.store.memory import CUT, LONGEST_TEXT, MOST_PENDING, TurnMemory

INTO = "INSERT INTO turns (message, answer, finished, session, device, found)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def memory(path: Path) -> AsyncIterator[TurnMemory]:
    made = TurnMemory(path, days=30, turns=100, device="d1")
    await made.open()
    yield made
    await made.close()


async def backdate(path: Path, number: int, days: float) -> None:
    """As if the turn had been finished so many days ago."""
    when = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE turns SET finished = ? WHERE id = ?", (when, number))


def in_files(path: Path, word: str) -> bool:
    """Whether the word stands in the file, or in what SQLite keeps beside it."""
    return any(word.encode() in file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """The file can be read and not written, as on a full disk: somebody else writes it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture
async def hasty(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TurnMemory]:
    """One that does not wait for others to finish with the file."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.01)
    made = TurnMemory(path, days=30, turns=100)
    await made.open()
    yield made
    await made.close()


def damage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def remove(path: Path) -> None:
    path.unlink()


async def messages(memory: TurnMemory, query: str = "", when: str = "") -> list[str]:
    return [turn.message for turn in await memory.search(query, when=when)]


async def test_a_turn_comes_back_with_its_time_session_and_device(memory: TurnMemory) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    memory.add("Is the boiler old?", "It is from 2009.", "s1")
    (turn,) = await memory.search("boiler")
    assert (turn.message, turn.answer, turn.match) == ("Is the boiler old?", "It is from 2009.", 1.0)
    assert (turn.session, turn.device) == ("s1", "d1")
    assert before <= turn.when <= datetime.now(UTC)


async def test_nearly_right_words_find_it_and_the_newest_comes_first(memory: TurnMemory) -> None:
    for number in range(3):
        memory.add(f"Who repairs the boiler {number}?", "Mr Weber.", "s")
    memory.add("What time is it?", "Noon.", "s")
    assert await messages(memory, "boliers") == [f"Who repairs the boiler {n}?" for n in (2, 1, 0)]
    assert await messages(memory, "passport") == []
    assert (await messages(memory))[0] == "What time is it?"


async def test_words_name_the_time(memory: TurnMemory, path: Path) -> None:
    memory.add("the boiler, long ago", "Yes.", "s")
    memory.add("the boiler, now", "Yes.", "s")
    await messages(memory)
    await backdate(path, 1, 10)
    assert await messages(memory, "boiler", "today") == ["the boiler, now"]
    assert await messages(memory, "boiler", "before yesterday") == ["the boiler, long ago"]
    assert await messages(memory, "", "2 days ago") == []
    with pytest.raises(ValueError, match='"tomorrow" names no time that is over'):
        await memory.search("boiler", when="tomorrow")


async def test_a_day_before_all_days_is_said_to_be_that(
    memory: TurnMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        with pytest.raises(ValueError, match=r'"0001-01-01" is before all dates; write a day like \d{4}-'):
            await memory.search("boiler", when="0001-01-01")
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_what_is_too_old_or_too_much_goes_at_the_start(path: Path) -> None:
    first = TurnMemory(path, days=30, turns=100)
    await first.open()
    for number in range(6):
        first.add(f"zebra{number}", "stripes", "s")
    await first.close()
    await backdate(path, 6, 31)
    second = TurnMemory(path, days=30, turns=3)
    await second.open()
    assert await messages(second) == ["zebra4", "zebra3"]
    await second.close()
    assert not in_files(path, "zebra0")


async def test_the_limit_holds_without_a_restart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLEAN_AFTER", 5)
    memory = TurnMemory(path, days=30, turns=3)
    await memory.open()
    for number in range(20):
        memory.add(f"turn {number}", "", "s")
        assert (await memory.kept()).turns <= 3 + 6
    assert await messages(memory, "turn 19") == ["turn 19"]
    await memory.close()


async def test_with_0_days_nothing_is_kept_and_what_was_is_erased(path: Path, memory: TurnMemory) -> None:
    memory.add("Where is the zither?", "In the attic.", "s")
    await memory.close()
    assert in_files(path, "zither")
    none = TurnMemory(path, days=0, turns=100)
    await none.open()
    none.add("And the viola?", "There, too.", "s")
    with pytest.raises(StoreError, match=r"what is said is not kept; the setting memory\.keep_days is 0"):
        await none.search("zither")
    await none.close()
    assert not any(in_files(path, word) for word in ("zither", "attic", "viola"))


async def test_with_0_days_there_is_no_file(path: Path) -> None:
    none = TurnMemory(path, days=0, turns=100)
    await none.open()
    none.add("a", "b", "s")
    assert await none.forget([1]) == 0
    await none.close()
    assert not in_files(path, "")


async def test_what_is_forgotten_is_in_no_file(memory: TurnMemory, path: Path) -> None:
    for word in ("aardvark", "quokka", "wombat"):
        memory.add(f"Do you know the {word}?", f"The {word} is an animal.", "s")
    await messages(memory)
    assert await memory.forget([2, 99]) == 1
    assert not in_files(path, "quokka")
    assert in_files(path, "aardvark")
    assert await messages(memory, "quokka") == []
    assert await memory.forget_time("today") == 2
    assert not any(in_files(path, word) for word in ("aardvark", "wombat", "animal"))
    assert (await memory.kept()).turns == 0


async def test_endless_texts_are_cut_with_a_mark_and_half_characters_replaced(memory: TurnMemory) -> None:
    memory.add("x" * (LONGEST_TEXT + 1), "a\ud800b", "s")
    (turn,) = await memory.search("")
    assert len(turn.message) == LONGEST_TEXT
    assert turn.message.endswith(CUT)
    assert turn.answer == "a?b"


async def test_a_file_that_cannot_be_used_is_told_once_without_what_was_said(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damage(path)
    memory = TurnMemory(path, days=30, turns=1_000)
    with caplog.at_level(logging.DEBUG):
        await memory.open()
        for number in range(MOST_PENDING + 3):
            memory.add(f"secret {number}", "secret", "s")
        with pytest.raises(StoreError, match="damaged"):
            await memory.search("secret")
        remove(path)
        memory.add("secret, later", "secret", "s")
        kept = await memory.kept()
    assert (kept.turns, kept.dropped) == (MOST_PENDING, 4)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "secret" not in caplog.text
    await memory.close()


async def test_a_turn_that_cannot_be_read_hides_no_other(
    memory: TurnMemory, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory.add("the boiler", "Yes.", "s")
    await messages(memory)
    with closing(sqlite3.connect(path)) as connection, connection:
        row = f"{INTO} VALUES (CAST(? AS TEXT), 'Yes.', ?, '', '', 1)"
        connection.execute(row, (b"a kettle", "some day"))
        connection.execute(row, (b"boiler \xff", "2026-01-01T00:00:00.000+00:00"))
    assert set(await messages(memory, "boiler")) == {"the boiler", "boiler \ufffd"}
    with pytest.raises(StoreError, match="1 of the turns that fit are damaged, and no other fits"):
        await memory.search("kettle")
    assert "The turn 2 cannot be read" in caplog.text


async def test_what_waits_for_the_disk_is_not_denied_and_is_found_once_there_is_room(
    hasty: TurnMemory, path: Path
) -> None:
    hasty.add("the kettle", "Yes.", "s")
    assert await messages(hasty, "kettle") == ["the kettle"]
    with unwritable(path):
        hasty.add("my secret code is PELICAN", "Fine.", "s")
        with pytest.raises(StoreError, match=r"not looked at \(1\) wait to be written: .* locked"):
            await hasty.search("pelican")
        assert await messages(hasty, "kettle") == ["the kettle"]
        assert await messages(hasty, "pelican", "before yesterday") == []
        assert ((await hasty.kept()).turns, (await hasty.kept()).waiting) == (1, 1)
    assert await messages(hasty, "pelican") == ["my secret code is PELICAN"]
    assert (await hasty.kept()).waiting == 0


async def test_what_waited_for_the_disk_does_not_come_back_after_it_was_forgotten(
    hasty: TurnMemory, path: Path
) -> None:
    with unwritable(path):
        hasty.add("my secret code is PELICAN", "Fine.", "s")
        assert (await hasty.kept()).waiting == 1
    assert await hasty.forget_time("") == 1
    hasty.add("hello", "Hello.", "s")
    assert await messages(hasty, "pelican") == []
    assert await messages(hasty) == ["hello"]
    assert not in_files(path, "PELICAN")


async def test_what_cannot_be_erased_from_the_file_is_at_least_not_written_there(
    hasty: TurnMemory, path: Path
) -> None:
    with unwritable(path):
        hasty.add("my secret code is PELICAN", "Fine.", "s")
        with pytest.raises(StoreError, match="locked"):
            await hasty.forget_time("before yesterday")
        assert (await hasty.kept()).waiting == 1
        with pytest.raises(StoreError, match="locked"):
            await hasty.forget_time("today")
        assert (await hasty.kept()).waiting == 0
    assert await messages(hasty) == []
    assert not in_files(path, "PELICAN")
