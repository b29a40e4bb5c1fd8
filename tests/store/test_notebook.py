"""Notes: found again by nearly right words, and never lost once acknowledged."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muleteer import session
from muleteer.store.database import StoreError
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Note

SCHEMA_1 = Path(__file__).with_name("notebook_schema_1.db")  # made by the notebook before it had pages
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
    with pytest.raises(StoreError, match="3 of the notes that fit are damaged, and no other fits"):
        await full.search("tea")
    assert [note.text for note in await full.search("", limit=2)] == [NOTES[5], NOTES[4]]
    assert caplog.text.count("cannot be read") == 7


async def test_a_broken_character_hides_neither_its_note_nor_the_others(
    full: SqliteNotebook, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "notebook.db")) as connection, connection:
        insert = "INSERT INTO notes (text, written, page) VALUES (CAST(? AS TEXT), ?, CAST(? AS TEXT))"
        connection.execute(insert, (b"boiler \xff\xfe room", "2026-01-01T00:00:00+00:00", b"\xffpage"))
    assert {note.text for note in await full.search("boiler")} == {NOTES[2], "boiler \ufffd\ufffd room"}
    assert (await full.search("birthdya"))[0].text == NOTES[0]
    assert (await full.search(""))[0].page == "\ufffdpage"
    assert [page.name for page in await full.pages()] == ["Anna", "Notes", "\ufffdpage"]


async def test_a_page_that_is_damaged_on_disk_hides_only_its_notes(
    notebook: SqliteNotebook, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(40):
        await notebook.add(f"kettle {number} " + "long " * 190)  # about four to a page of 4 KiB
    await notebook.close()
    path = tmp_path / "notebook.db"
    with closing(sqlite3.connect(path)) as connection:
        leaf = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'notes' AND pagetype = 'leaf' LIMIT 3, 1"
        ).fetchone()[0]
    content = bytearray(path.read_bytes())
    content[(leaf - 1) * 4096 : (leaf - 1) * 4096 + 16] = bytes(16)
    path.write_bytes(content)
    found = await notebook.search("kettle", limit=40)
    assert 30 <= len(found) < 40
    assert "cannot be read: database disk image is malformed" in caplog.text


async def test_half_a_character_is_a_store_error_and_nothing_is_kept(notebook: SqliteNotebook) -> None:
    with pytest.raises(StoreError, match=r"character 2 is half of a pair"):
        await notebook.add("a\ud800b")
    assert await notebook.search("") == []
    assert await notebook.search("\ud800") == []


async def test_a_note_knows_its_page_session_and_device(tmp_path: Path) -> None:
    notebook = SqliteNotebook(tmp_path / "notebook.db", "d1")
    session.current.set("s1")
    note = await notebook.add("milk", "Shopping")
    assert (note.page, note.session, note.device, note.number) == ("Shopping", "s1", "d1", 1)
    assert await notebook.search("milk") == [note]
    await notebook.close()


async def test_a_page_is_found_by_its_name_and_is_one_however_it_is_spelled(notebook: SqliteNotebook) -> None:
    await notebook.add("milk", "Shopping")
    await notebook.add("bread", "SHOPPING ")
    await notebook.add("put eggs on the shopping page")
    await notebook.add("Mia's shoe size is 34")
    await notebook.add("the key is under the pot")
    found = await notebook.search("shoping")
    assert {note.text for note in found} == {"put eggs on the shopping page", "bread", "milk"}
    assert {note.page for note in await notebook.search("")} == {"Shopping", "Mia", "Notes"}
    assert [(page.name, page.notes) for page in await notebook.pages()] == [
        ("Mia", 1),
        ("Notes", 1),
        ("Shopping", 3),
    ]
    assert [note.number for note in await notebook.notes("shopping", after=1)] == [2, 3]
    assert [note.text for note in await notebook.notes("Notes")] == ["the key is under the pot"]


async def test_notes_from_elsewhere_are_kept_once_all_or_none(notebook: SqliteNotebook) -> None:
    when = datetime(2026, 5, 1, tzinfo=UTC)
    notes = [
        Note("milk", when, page="Shopping", session="s", device="d"),
        Note("Anna called", when, page="Notes"),
    ]
    assert await notebook.keep(notes, [True, False]) == 2
    assert await notebook.keep(notes, [True, False]) == 0
    later = Note("milk", when + timedelta(days=1), page="shopping")
    assert await notebook.keep([later, later], [True, False]) == 1
    assert await notebook.keep([Note("Anna called", later.when, page="Notes")], [False]) == 0
    with pytest.raises(StoreError, match="half of a pair"):
        await notebook.keep([Note("tea", when), Note("\ud800", when)], [True, True])
    found = await notebook.notes()
    assert [(note.text, note.when, note.page, note.session, note.device) for note in found] == [
        ("milk", when, "Shopping", "s", "d"),
        ("Anna called", when, "Notes", "", ""),
        ("milk", later.when, "Shopping", "", ""),
    ]


async def test_what_is_forgotten_is_in_no_file(notebook: SqliteNotebook, tmp_path: Path) -> None:
    secrets = ("aardvark", "quokka", "wombat", "zebra")
    for word in secrets:
        await notebook.add(f"the {word} sleeps " + f"{word} " * 20, f"page of {word}")
    for word in secrets[:2]:
        assert in_files(tmp_path, word)
    assert await notebook.forget([2, 99]) == 1
    assert await notebook.forget_page("Page of Wombat") == 1
    assert [in_files(tmp_path, word) for word in secrets] == [True, False, False, True]
    assert await notebook.search("quokka") == []
    assert len(await notebook.search("zebra")) == 1
    assert await notebook.forget_all() == 2
    assert not any(in_files(tmp_path, word) for word in secrets)
    assert await notebook.pages() == []


def in_files(folder: Path, word: str) -> bool:
    return any(word.encode() in file.read_bytes() for file in folder.iterdir())


async def test_forgetting_says_when_traces_may_remain(notebook: SqliteNotebook, tmp_path: Path) -> None:
    await notebook.add("the quokka sleeps")
    with closing(sqlite3.connect(tmp_path / "notebook.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM notes").fetchall()
        with pytest.raises(StoreError, match="traces of it may remain in the file"):
            await notebook.forget([1])
    assert await notebook.forget([1]) == 0
    assert not in_files(tmp_path, "quokka")


async def test_a_notebook_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "notebook.db"
    path.write_bytes(SCHEMA_1.read_bytes())
    notebook = SqliteNotebook(path)
    assert [note.text for note in await notebook.search("birthdya")] == ["My sister Anna's birthday is 3 May"]
    old = await notebook.notes()
    assert [(note.number, note.page, note.session, note.device) for note in old] == [
        (1, "Notes", "", ""),
        (3, "Notes", "", ""),
    ]
    assert old[0].when == datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=UTC)
    await notebook.add("Zoë's boiler")
    assert [note.number for note in await notebook.search("boiler")] == [4, 3]
    assert await notebook.forget([3]) == 1
    await notebook.close()
    assert kept(path) == ["My sister", "Zoë's boiler"]


def kept(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO note_index(note_index) VALUES ('integrity-check')")
        return [" ".join(row[0].split()[:2]) for row in connection.execute("SELECT text FROM notes")]
    finally:
        connection.close()
