"""What was said before: found, not there, and could not look are three different answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from muleteer.harness.answer import needs_writing
from muleteer.services import Absent
from muleteer.store.memory import TurnMemory
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Data, Result, Services, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters, with_services
from tools.grep_memory import SHOWN, grep_memory


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[TurnMemory]:
    made = TurnMemory(tmp_path / "memory.db", days=30, turns=100)
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def toolbox(notebook: SqliteNotebook, memory: TurnMemory) -> Toolbox:
    return with_services(replace(Services(notebook), memory=memory))


async def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, grep_memory)
    assert toolbox.tools["grep_memory"].effect == "read"


async def test_ok_has_what_was_said_with_its_time(toolbox: Toolbox, memory: TurnMemory) -> None:
    memory.add("How old is\nthe boiler?", "It is from 2009.", "s")
    (turn,) = await memory.search("boiler")
    result = await call(toolbox, "grep_memory", query="boiler")
    when = f"on {turn.when.day} {turn.when:%B %Y at %H:%M}"
    line = f'{when} you said "How old is the boiler?", and I answered "It is from 2009."'
    kept = {
        "when": turn.when.isoformat(timespec="seconds"),
        "said": "How old is the boiler?",
        "answered": "It is from 2009.",
    }
    assert result == Result.ok(f"It came up once: {line}", Data({"turns": [kept]}), ("memory",))
    assert not needs_writing([result]), "no model makes a fact of an old answer"


async def test_many_are_counted_and_three_are_said(toolbox: Toolbox, memory: TurnMemory) -> None:
    for number in range(5):
        memory.add(f"boiler {number}", "x" * (SHOWN + 1), "s")
    result = await call(toolbox, "grep_memory", query="boiler", when="today")
    assert result.text.startswith("It came up 5 times (today): on ")
    assert result.text.endswith("; and 2 more")
    assert isinstance(result.payload, Data)
    turns = result.payload.values["turns"]
    assert isinstance(turns, list)
    assert [turn["answered"] for turn in turns] == ["x" * (SHOWN - 2) + " \u2026"] * 5
    assert not needs_writing([result])


async def test_what_only_comes_near_is_called_so(toolbox: Toolbox, memory: TurnMemory) -> None:
    memory.add("How old is the boiler?", "Old.", "s")
    result = await call(toolbox, "grep_memory", query="boiler warranty")
    assert result.text.startswith("Nothing that was said has all of that; the nearest: on ")


async def test_what_was_asked_in_vain_is_no_finding(toolbox: Toolbox, memory: TurnMemory) -> None:
    memory.add("What is the alarm code?", "There is no note about that.", "s", found=False)
    result = await call(toolbox, "grep_memory", query="alarm code")
    assert result == Result.empty("That was asked before, but nothing was found then either.")
    assert (await call(toolbox, "grep_memory")).text.startswith("It came up once: on ")
    memory.add("The alarm code, please.", "It is 4711.", "s")
    memory.add("What is the alarm code?", "There is no note about that.", "s", found=False)
    result = await call(toolbox, "grep_memory", query="alarm code")
    assert result.text.startswith("It came up once: on ")
    assert result.text.endswith('"It is 4711."')


async def test_empty_names_words_and_time(toolbox: Toolbox, memory: TurnMemory) -> None:
    assert await call(toolbox, "grep_memory") == Result.empty("I remember nothing that was said.")
    memory.add("How old is the boiler?", "Old.", "s")
    result = await call(toolbox, "grep_memory", query="boiler", when="last week")
    assert result == Result.empty('I remember nothing that was said about "boiler" (last week).')


async def test_words_that_are_no_time_are_an_error(toolbox: Toolbox) -> None:
    result = await call(toolbox, "grep_memory", query="boiler", when="tomorrow")
    assert result.status is Status.ERROR
    assert result.text.startswith('"tomorrow" names no time that is over; write it like 20')


async def test_unavailable_is_not_empty(toolbox: Toolbox, memory: TurnMemory, tmp_path: Path) -> None:
    await memory.close()
    (tmp_path / "memory.db").write_bytes(b"garbage" * 1000)
    result = await call(toolbox, "grep_memory", query="boiler")
    assert result.status is Status.UNAVAILABLE
    assert "damaged" in result.text
    absent = with_services(replace(Services(SqliteNotebook(tmp_path / "n.db")), memory=Absent("It is off.")))
    result = await call(absent, "grep_memory")
    assert result == Result.unavailable("I could not look into earlier conversations: It is off.")


async def test_where_nothing_is_kept_it_could_not_look(tmp_path: Path, notebook: SqliteNotebook) -> None:
    none = TurnMemory(tmp_path / "none.db", days=0, turns=100)
    result = await call(
        with_services(replace(Services(notebook), memory=none)), "grep_memory", query="boiler"
    )
    assert result.status is Status.UNAVAILABLE
    assert "memory.keep_days is 0" in result.text
