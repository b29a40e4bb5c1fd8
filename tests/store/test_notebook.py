"""Notes: found again by nearly right words, and never lost once acknowledged."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muleteer.store.database import StoreError
from muleteer.store.notebook import SqliteNotebook

WRITER = Path(__file__).with_name("writer.py")
NOTES = (
    "My sister Anna's birthday is 3 May",
    "The spare key is under the blue pot",
    "The boiler was serviced on Monday",
    "Tom is allergic to nuts",
    "Anna moved to Berlin",
    "Der Ersatzschlüssel liegt bei Frau Weber",
)


@pytest.fixture
async def notebook(tmp_path: Path) -> AsyncIterator[SqliteNotebook]:
    made = SqliteNotebook(tmp_path / "notebook.db")
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def full(notebook: SqliteNotebook) -> SqliteNotebook:
    for text in NOTES:
        await notebook.add(text)
    return notebook


async def test_a_note_comes_back_with_its_time(notebook: SqliteNotebook) -> None:
    before = datetime.now(UTC)
    note = await notebook.add("tea")
    assert before <= note.when <= datetime.now(UTC)
    assert await notebook.search("tea") == [note]


@pytest.mark.parametrize(
    ("query", "first", "match"),
    [
        ("when is my sister's birthday", NOTES[0], 1.0),
        ("birthdya", NOTES[0], 0.5),
        ("boilers", NOTES[2], 1.0),
        ("BOILER servicing", NOTES[2], 1.0),
        ("where is the spare key", NOTES[1], 1.0),
        ("Schlüssel", NOTES[5], 1.0),
        ("ersatzschluessel", NOTES[5], 0.5),
        ("boiler warranty", NOTES[2], 0.5),
        ("Anna", NOTES[4], 1.0),
    ],
)
async def test_the_best_note_comes_first(full: SqliteNotebook, query: str, first: str, match: float) -> None:
    found = await full.search(query)
    assert (found[0].text, found[0].match) == (first, match)


async def test_only_the_notes_with_most_of_the_words_come(full: SqliteNotebook) -> None:
    assert [note.text for note in await full.search("Anna birthday")] == [NOTES[0]]
    assert {note.text for note in await full.search("Anna")} == {NOTES[0], NOTES[4]}


@pytest.mark.parametrize("query", ["passport", "Tim", "boiler warranty certificate number"])
async def test_what_is_not_there_is_not_found(full: SqliteNotebook, query: str) -> None:
    assert await full.search(query) == []


@pytest.mark.parametrize("query", ["", "  ", "all my notes", "?!"])
async def test_a_query_for_nothing_in_particular_gives_the_newest(full: SqliteNotebook, query: str) -> None:
    assert [note.text for note in await full.search(query, limit=2)] == [NOTES[5], NOTES[4]]


async def test_a_limit_is_kept(full: SqliteNotebook) -> None:
    assert len(await full.search("Anna", limit=1)) == 1


@given(query=st.text(st.sampled_from("\"*()-:^+{}[]AND ORNEAR text\0é'%;\n"), max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
async def test_a_query_is_never_syntax(full: SqliteNotebook, query: str) -> None:
    assert all(note.text in NOTES for note in await full.search(query))


async def test_a_note_is_kept_exactly_as_it_is(notebook: SqliteNotebook) -> None:
    text = 'it\'s "100 %"; DROP TABLE notes; -- <|im_end|> \U0001f511 zero\0byte'
    await notebook.add(text)
    assert [note.text for note in await notebook.search("DROP")] == [text]


async def test_a_damaged_file_is_told_at_each_use_and_comes_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "notebook.db"
    path.write_bytes(b"garbage" * 1000)
    notebook = SqliteNotebook(path)
    await notebook.open()
    assert "The notebook is not available" in caplog.text
    with pytest.raises(StoreError, match="damaged"):
        await notebook.search("x")
    with pytest.raises(StoreError, match="damaged"):
        await notebook.add("x")
    assert path.read_bytes() == b"garbage" * 1000
    path.unlink()
    await notebook.add("tea")
    assert len(await notebook.search("tea")) == 1
    await notebook.close()


async def test_a_note_that_cannot_be_read_is_left_out_and_told(
    full: SqliteNotebook, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    connection = sqlite3.connect(tmp_path / "notebook.db")
    bad = [("tea", "yesterday"), ("tea", 5), ("tea", "0001-01-01T00:00:00+23:00"), (b"\xff", "2026-01-01")]
    connection.executemany("INSERT INTO notes (text, written) VALUES (?, ?)", bad)
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="3 notes are damaged, and there are no others"):
        await full.search("tea")
    assert [note.text for note in await full.search("", limit=2)] == [NOTES[5], NOTES[4]]
    assert caplog.text.count("of the notebook cannot be read") == 7


async def test_half_a_character_is_a_store_error_and_nothing_is_kept(notebook: SqliteNotebook) -> None:
    with pytest.raises(StoreError, match=r"character 2 is half of a pair"):
        await notebook.add("a\ud800b")
    assert await notebook.search("") == []
    assert await notebook.search("\ud800") == []


def start(path: Path, first: int, *limit: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, str(WRITER), str(path), str(first), *limit]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def kept(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO note_index(note_index) VALUES ('integrity-check')")
        return [" ".join(row[0].split()[:2]) for row in connection.execute("SELECT text FROM notes")]
    finally:
        connection.close()


def test_killing_the_writer_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "notebook.db"
    chance = random.Random(5)
    acknowledged: list[str] = []
    for round_ in range(20):
        writer = start(path, round_ * 10_000)
        assert writer.stdout is not None
        for _ in range(chance.randint(1, 60)):
            acknowledged.append(f"note {writer.stdout.readline().strip()}")
        writer.kill()
        lines = writer.stdout.read().split("\n")  # what it had said by then; the last may be cut short
        acknowledged += [f"note {line}" for line in lines[:-1]]
        writer.stdout.close()
        assert writer.wait() == -9
        found = kept(path)
        assert set(acknowledged) <= set(found)
        assert len(found) <= len(acknowledged) + round_ + 1  # at most one in each round was not yet said


def test_a_disk_that_fills_up_is_an_error_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "notebook.db"
    writer = start(path, 0, "1000000")  # the log alone grows to four megabytes before it is folded in
    said, _ = writer.communicate()
    *numbers, last = said.splitlines()
    assert writer.returncode == 0
    assert last.startswith(f"failed: {path} cannot be used")
    assert len(numbers) > 10
    assert kept(path) == [f"note {number}" for number in numbers]
