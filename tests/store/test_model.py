"""The notebook and the memory against plain models: whatever is done, in whatever order, with restarts."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from muleteer.store.matching import fold, keywords
from muleteer.store.memory import TurnMemory
from muleteer.store.notebook import SqliteNotebook
from muleteer.store.pages import COMMON_PAGE

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
WORDS = st.sampled_from(["boiler", "boilers", "Anna", "spare key", "Schlüssel", "garden hose", "milk"])
PAGES = st.sampled_from(["", "Anna", "anna", "Shopping", "Notes", "../x", "\0"])
EXAMPLES = 40


@dataclass(frozen=True)
class Act:
    """`add` (text, page), `forget` (of the notes there are, this one), `drop` (page), `reopen`."""

    kind: str
    text: str = ""
    page: str = ""
    place: int = 0


ACTS = st.lists(
    st.one_of(
        st.builds(Act, st.just("add"), TEXTS | WORDS, PAGES),
        st.builds(Act, st.just("forget"), place=st.integers(0, 30)),
        st.builds(Act, st.just("drop"), page=PAGES),
        st.just(Act("reopen")),
    ),
    max_size=12,
)


def in_new_file(run: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder) / "store.db")


@given(ACTS)
@settings(max_examples=EXAMPLES, deadline=None)
def test_the_notebook_is_what_was_added_and_not_forgotten(acts: list[Act]) -> None:
    in_new_file(lambda path: asyncio.run(play_notes(path, acts)))


async def play_notes(path: Path, acts: list[Act]) -> None:
    notebook = SqliteNotebook(path)
    model: dict[int, tuple[str, str]] = {}
    for act in acts:
        match act.kind:
            case "add":
                note = await notebook.add(act.text, act.page)
                assert note.number not in model
                model[note.number] = (act.text, note.page)
            case "forget":
                number = [*model, 999][min(act.place, len(model))]
                assert await notebook.forget([number]) == (number in model)
                model.pop(number, None)
            case "drop":
                doomed = [n for n, (_, page) in model.items() if same(page, act.page)]
                assert await notebook.forget_page(act.page) == len(doomed)
                for number in doomed:
                    del model[number]
            case "reopen":
                await notebook.close()
    notes = await notebook.notes(limit=1_000)
    assert {note.number: (note.text, note.page) for note in notes} == model
    assert {page.name for page in await notebook.pages()} == {page for _, page in model.values()}
    newest = await notebook.search("", limit=1_000)
    assert [note.number for note in newest] == sorted(model, reverse=True)
    for number, (text, _) in model.items():
        if words := keywords(text):
            found = await notebook.search(" ".join(words), limit=1_000)
            assert number in {note.number for note in found} or not indexed(path, words)
    await notebook.close()
    check_index(path, "note_index")


def same(page: str, wanted: str) -> bool:
    """Whether a note on `page` is on the one that is called `wanted`; what is no name is the common page."""
    named = wanted if wanted in ("Anna", "anna", "Shopping", "../x") else COMMON_PAGE
    return fold(page.strip(".")) == fold(named.strip("."))


def indexed(path: Path, words: tuple[str, ...]) -> bool:
    """Whether SQLite takes all of the words for words: its Unicode is older than Python's."""
    with closing(sqlite3.connect(path)) as connection:
        known = {row[0] for row in connection.execute("SELECT term FROM note_words")}
    return known.issuperset(words)


def check_index(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")


TURNS = st.lists(
    st.one_of(
        st.builds(Act, st.just("add"), TEXTS | WORDS),
        st.builds(Act, st.just("forget"), place=st.integers(0, 30)),
        st.just(Act("reopen")),
    ),
    max_size=12,
)


@given(TURNS, st.integers(1, 8))
@settings(max_examples=EXAMPLES, deadline=None)
def test_the_memory_is_the_newest_turns_that_were_not_forgotten(acts: list[Act], limit: int) -> None:
    in_new_file(lambda path: asyncio.run(play_turns(path, acts, limit)))


async def play_turns(path: Path, acts: list[Act], limit: int) -> None:
    memory = TurnMemory(path, days=30, turns=limit)
    await memory.open()
    model: list[str] = []
    for act in acts:
        if act.kind == "add":
            memory.add(act.text, act.text, "s")
            model.append(act.text)
        elif act.kind == "forget":
            newest = await memory.search("", limit=1_000)
            if act.place < len(newest):
                assert await memory.forget([newest[act.place].number]) == 1
                del model[-1 - act.place]
        else:
            await memory.close()
            memory = TurnMemory(path, days=30, turns=limit)
            await memory.open()
            model = model[-limit:]
    found = [turn.message for turn in await memory.search("", limit=1_000)]
    assert found == model[::-1]
    await memory.close()
    check_index(path, "turn_index")
