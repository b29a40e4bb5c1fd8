"""Conversations by name: told again as they were said, listed, forgotten, and there after a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from muleteer.store import memory as module
from muleteer.store.memory import TurnMemory
from muleteer.store.sessions import LARGEST_TALK, LONGEST_TALK, Exchange
from tests.store.test_memory import in_files


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[TurnMemory]:
    made = TurnMemory(tmp_path / "memory.db", days=30, turns=100)
    await made.open()
    yield made
    await made.close()


async def test_a_session_survives_a_restart(memory: TurnMemory, tmp_path: Path) -> None:
    memory.add("we are six", "Six it is.", "party")
    memory.add("what time is it", "It is noon.", "party", looked_up=True)
    memory.add("other", "talk", "other")
    await memory.close()
    again = TurnMemory(tmp_path / "memory.db", days=30, turns=100)
    await again.open()
    assert await again.talk("party", 7) == [
        Exchange("we are six", "Six it is.", False),
        Exchange("what time is it", "It is noon.", True),
    ]
    await again.close()


async def test_a_talk_is_bounded_in_number_and_size_the_newest_stay(memory: TurnMemory) -> None:
    for number in range(LONGEST_TALK + 5):
        memory.add(f"{number}", "a", "many")
    assert [each.message for each in await memory.talk("many", 7)] == [
        str(number) for number in range(5, LONGEST_TALK + 5)
    ]
    for number in range(20):
        memory.add(f"{number}", "a" * 7_000, "large")
    large = await memory.talk("large", 7)
    assert large[-1].message == "19"
    assert sum(len(each.message + each.answer) for each in large) <= LARGEST_TALK


async def test_what_is_too_old_is_not_told_again(memory: TurnMemory, tmp_path: Path) -> None:
    memory.add("old", "a", "s")
    memory.add("new", "b", "s")
    await memory.talk("s", 7)
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection, connection:
        connection.execute(
            "UPDATE turns SET finished = '2020-01-01T00:00:00.000+00:00' WHERE message = 'old'"
        )
    assert [each.message for each in await memory.talk("s", 7)] == ["new"]


async def test_only_what_has_a_name_is_listed_and_forgetting_takes_all_of_it(
    memory: TurnMemory, tmp_path: Path
) -> None:
    memory.add("first", "a", "party")
    memory.add("unforgettable", "b", "party")
    memory.add("nameless", "c", "0123456789abcdef")
    (listed,) = await memory.sessions()
    assert (listed.name, listed.turns, listed.said) == ("party", 2, "unforgettable")
    assert await memory.forget_session("party") == 2
    assert await memory.sessions() == []
    assert not in_files(tmp_path / "memory.db", "unforgettable")


async def test_turns_from_before_sessions_were_kept_are_told_as_looked_up(tmp_path: Path) -> None:
    """Nobody knows any more whether a tool had answered."""
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in module.MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 1")
        connection.execute(
            "INSERT INTO turns (message, answer, finished, session, device, found)"
            " VALUES ('m', 'a', '9999-01-01T00:00:00.000+00:00', 's', '', 1)"
        )
    memory = TurnMemory(path, days=30, turns=100)
    await memory.open()
    assert await memory.talk("s", 7) == [Exchange("m", "a", True)]
    await memory.close()
