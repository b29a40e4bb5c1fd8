"""`muleteer memory` against the daemon's own routes and stores, on a real socket."""

from __future__ import annotations

import asyncio
import json
import stat
import tempfile
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from starlette.applications import Starlette

from muleteer.cli.memory import LONGEST_NOTE
from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.memory import LONGEST_NOTE as TAKEN
from muleteer.gateway.memory import memory_routes
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import listen_unix
from muleteer.store.memory import TurnMemory
from muleteer.store.notebook import SqliteNotebook
from tests.cli.conftest import Run

T = TypeVar("T")


@dataclass
class House:
    """Stores behind a socket, in a loop of their own."""

    folder: Path
    loop: asyncio.AbstractEventLoop
    days: int = 30

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    async def open(self) -> None:
        self.notebook = SqliteNotebook(self.folder / "notebook.db", "d1")
        self.memory = TurnMemory(self.folder / "memory.db", self.days, 100, "d1")
        await self.memory.open()
        self.listener = listen_unix(self.folder / "s")
        routes = memory_routes(self.notebook, self.memory, partial(asyncio.sleep, 0))
        self.server = HttpServer(
            Starlette(routes=routes, exception_handlers={MuleteerError: replies.on_fault})
        )
        await self.server.start(self.listener.socket)

    async def close(self) -> None:
        await self.server.stop(5.0)
        self.listener.close()
        await self.memory.close()
        await self.notebook.close()

    async def say(self, message: str, answer: str) -> None:
        self.memory.add(message, answer, "s1")
        await self.memory.kept()


@pytest.fixture
def days() -> int:
    return 30


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch, days: int) -> Iterator[House]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    with tempfile.TemporaryDirectory(prefix="mule") as folder:
        made = House(Path(folder), loop, days)
        made.do(made.open())
        monkeypatch.setenv("MULETEER_SOCKET", str(made.folder / "s"))
        yield made
        made.do(made.close())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_bare_it_tells_pages_and_how_long_turns_are_kept(run: Run, house: House) -> None:
    house.do(house.notebook.add("milk", "Shopping"))
    house.do(house.say("Is there milk?", "No."))
    done = run("memory")
    assert (done.code, done.err) == (0, "")
    assert "Shopping  1" in done.out
    assert "1 past turn, the oldest of 20" in done.out
    assert "kept for 30 days, at most 100." in done.out
    assert json.loads(run("memory", "show", "--json").out)["pages"][0]["name"] == "Shopping"


def test_an_empty_notebook_is_told_to_be_that(run: Run, house: House) -> None:
    done = run("memory")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("There are no notes yet.\n0 past turns; kept for 30 days")


def test_search_finds_notes_and_turns(run: Run, house: House) -> None:
    house.do(house.notebook.add("the boiler was serviced\non Monday"))
    house.do(house.say("Is the boiler old?", "It is from 2009."))
    done = run("memory", "search", "boliers")
    assert done.code == 0
    assert "n1" in done.out
    assert "the boiler was serviced on Monday" in done.out
    assert "It is from 2009." in done.out
    assert "n1" not in run("memory", "search", "--when", "today", "boiler").out
    assert json.loads(run("memory", "search", "--json", "boiler").out)["turns"][0]["session"] == "s1"
    assert run("memory", "search", "passport").out == "Nothing was found.\n"
    assert "names no time that is over" in run("memory", "search", "--when", "some day", "x").err


def test_show_a_page_and_turns(run: Run, house: House) -> None:
    house.do(house.notebook.add("milk", "Shopping"))
    house.do(house.notebook.add("tea"))
    house.do(house.say("Is there milk?", "No."))
    shown = run("memory", "show", "shopping").out
    assert "milk" in shown
    assert "tea" not in shown
    assert "There may be more; --limit" in run("memory", "show", "--limit", "1", "Notes").err
    assert "t1" in run("memory", "show", "--turns").out
    assert "t1" in run("memory", "show", "--when", "this week").out


def test_forget_by_number_asks_nothing(run: Run, house: House) -> None:
    for text in ("milk", "bread"):
        house.do(house.notebook.add(text))
    house.do(house.say("Is there milk?", "No."))
    assert run("memory", "forget", "n1", "t1").out == "Forgotten: 1 note and 1 turn.\n"
    assert [note.text for note in house.do(house.notebook.notes())] == ["bread"]
    assert json.loads(run("memory", "forget", "--json", "n1").out) == {"notes": 0, "turns": 0}


def test_forget_more_asks_first(run: Run, house: House) -> None:
    for page in ("A", "B"):
        house.do(house.notebook.add("milk", page))
    house.do(house.say("Is there milk?", "No."))
    refused = run("memory", "forget", "--page", "A", "--when", "today", stdin=b"n\n")
    assert "Forget all notes of the page A and all turns of: today, for good?" in refused.err
    assert len(house.do(house.notebook.notes())) == 2
    assert "1 note and 1 turn" in run("memory", "forget", "--page", "A", "--when", "today", stdin=b"y\n").out
    assert "1 note and 0 turns" in run("memory", "forget", "--all", "--yes").out


@pytest.mark.parametrize("arguments", [[], ["12"], ["n0"], ["x1"], ["n1", "turn"]])
def test_forget_wants_to_know_what(run: Run, house: House, arguments: list[str]) -> None:
    done = run("memory", "forget", *arguments)
    assert done.code == 2
    assert "Say what to forget" in done.err or "is no number of a note (n12) or turn (t7)" in done.err


def test_notes_go_out_and_come_back_as_they_were(run: Run, house: House, tmp_path: Path) -> None:
    texts = ["milk", "bread,\nbrown", "- <!-- x -->", " a\0b ", "milk"]
    for number, page in enumerate(("Shopping", "../../evil", "Notes", "Zoë", "Shopping")):
        house.do(house.notebook.add(texts[number], page))
    before = house.do(house.notebook.notes())
    folder = tmp_path / "out" / "notes"
    assert run("memory", "export", str(folder)).out == f"5 notes on 4 pages are in {folder}.\n"
    assert {file.name for file in folder.iterdir()} == {"shopping.md", "evil.md", "notes.md", "zoë.md"}
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder.iterdir())
    assert run("memory", "import", str(folder)).out == "0 notes were taken in; 5 were there already.\n"
    run("memory", "forget", "--all", "--yes")
    assert json.loads(run("memory", "import", "--json", str(folder)).out) == {
        "pages": 4,
        "new": 5,
        "known": 0,
    }
    after = house.do(house.notebook.notes())
    assert {(n.text, n.page, n.when, n.device) for n in after} == {
        (n.text, n.page, n.when, n.device) for n in before
    }


def test_export_wants_an_empty_folder(run: Run, house: House, tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("- forgotten long ago")
    done = run("memory", "export", str(tmp_path))
    assert done.code == 2
    assert "is not empty; name a new folder" in done.err


def test_import_tells_the_file_that_is_wrong(run: Run, house: House, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    assert "holds 0 Markdown files" in run("memory", "import", str(folder)).err
    (folder / "a.md").write_text("- tea\n")
    (folder / "b.md").write_text(f"- {'x' * 1_001}\n")
    done = run("memory", "import", str(folder))
    assert done.code == 2
    assert "b.md: note 1, beginning with 'xxxxxxxxxx" in done.err
    assert "has 1,001 characters and may have 1,000; make it several. Nothing was taken in." in done.err
    (folder / "b.md").write_text(f"# {'x' * 61}\n\n- milk\n")
    assert "cannot be the name of a page" in run("memory", "import", str(folder)).err
    assert house.do(house.notebook.notes()) == []
    (folder / "b.md").write_bytes(b"- caf\xe9")
    assert "b.md is not UTF-8 at byte 5" in run("memory", "import", str(folder)).err
    (folder / "b.md").unlink()
    (folder / "b.md").symlink_to("/etc/passwd")
    assert "b.md is a link" in run("memory", "import", str(folder)).err


def test_a_note_of_the_longest_is_taken_in_and_one_without_words_is_none(
    run: Run, house: House, tmp_path: Path
) -> None:
    assert LONGEST_NOTE == TAKEN
    (tmp_path / "a.md").write_text(f"- {'x' * LONGEST_NOTE}\n-  \t\n- tea\n")
    assert run("memory", "import", str(tmp_path)).out == "2 notes were taken in; 0 were there already.\n"


def test_import_that_fails_on_the_way_tells_what_was_taken_in(run: Run, house: House, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("- tea\n- milk\n")
    (tmp_path / "b.md").write_text(f"- jam\n  <!-- 2026-05-01T10:00:00+02:00 session={'x' * 65} -->\n")
    done = run("memory", "import", str(tmp_path))
    assert (done.code, done.err.startswith("Error: b.md: ")) == (1, True)
    assert "Before that, 2 notes were taken in." in done.err


def test_what_cannot_be_read_is_no_empty_notebook(run: Run, house: House, tmp_path: Path) -> None:
    (house.folder / "notebook.db").write_bytes(b"garbage" * 1000)
    done = run("memory", "search", "milk")
    assert (done.code, done.out) == (1, "")
    assert "Error: The notebook cannot be read: " in done.err
    assert run("memory", "export", str(tmp_path / "x")).code == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("days", [0])
def test_where_nothing_is_kept_it_says_so(run: Run, house: House) -> None:
    assert "What is said is not kept (memory.keep_days = 0)." in run("memory").out
    assert "memory.keep_days is 0" in run("memory", "show", "--turns").err
