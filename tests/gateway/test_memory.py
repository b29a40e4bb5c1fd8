"""`/v1/memory`: what is kept is shown, found, taken in and forgotten; what could not be looked at is said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.errors import EngineBusyError, MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.memory import memory_routes
from muleteer.store.memory import TurnMemory
from muleteer.store.notebook import SqliteNotebook


@dataclass
class Kept:
    notebook: SqliteNotebook
    memory: TurnMemory
    client: httpx.AsyncClient
    refusal: MuleteerError | None = None
    talks: int = 1

    async def forget_talks(self) -> None:
        if self.refusal:
            raise self.refusal
        self.talks = 0

    async def get(self, path: str, **query: object) -> dict[str, object]:
        reply = await self.client.get(
            f"/v1/memory{path}", params={name: str(value) for name, value in query.items()}
        )
        return dict(reply.json())

    async def post(self, path: str, body: object) -> tuple[int, dict[str, object]]:
        reply = await self.client.post(f"/v1/memory{path}", json=body)
        return reply.status_code, reply.json()


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Kept]:
    notebook = SqliteNotebook(tmp_path / "notebook.db", "d1")
    memory = TurnMemory(tmp_path / "memory.db", days=30, turns=100, device="d1")
    await memory.open()
    app = Starlette(exception_handlers={MuleteerError: replies.on_fault})
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://localhost"
    ) as client:
        kept = Kept(notebook, memory, client)
        app.routes.extend(memory_routes(notebook, memory, kept.forget_talks))
        yield kept
    await memory.close()
    await notebook.close()


def texts(body: dict[str, object], name: str, field: str = "text") -> list[object]:
    rows = body[name]
    assert isinstance(rows, list)
    return [row[field] for row in rows]


async def test_what_is_kept_and_how_long(kept: Kept) -> None:
    await kept.notebook.add("milk", "Shopping")
    kept.memory.add("Is there milk?", "No.", "s")
    body = await kept.get("")
    assert texts(body, "pages", "name") == ["Shopping"]
    assert body["turns"] == {
        "turns": 1,
        "oldest": (await kept.memory.kept()).oldest,
        "dropped": 0,
        "waiting": 0,
    }
    assert (body["keep_days"], body["keep_turns"], body["unavailable"]) == (30, 100, [])


async def test_notes_and_turns_are_found(kept: Kept) -> None:
    await kept.notebook.add("milk is in the cellar")
    kept.memory.add("Is there milk?", "In the cellar.", "s")
    body = await kept.get("/search", query="milk")
    assert texts(body, "notes") == ["milk is in the cellar"]
    assert texts(body, "turns", "answer") == ["In the cellar."]
    assert texts(await kept.get("/search", query="milk", when="today"), "notes") == []
    assert texts(await kept.get("/search", query="milk", kind="notes"), "turns") == []
    assert texts(await kept.get("/search", kind="turns", limit=5), "turns", "session") == ["s"]


async def test_notes_come_in_pieces(kept: Kept) -> None:
    for number in range(5):
        await kept.notebook.add(f"note {number}", "A" if number % 2 else "B")
    first = await kept.get("/notes", limit=2)
    assert texts(first, "notes", "number") == [1, 2]
    assert texts(await kept.get("/notes", after=2), "notes", "number") == [3, 4, 5]
    assert texts(await kept.get("/notes", page="a"), "notes") == ["note 1", "note 3"]


async def test_notes_are_taken_in_once(kept: Kept) -> None:
    given = {
        "notes": [{"text": "milk", "page": "Shopping", "when": "2026-05-01T10:00:00+02:00", "session": "s"}]
    }
    assert await kept.post("/notes", given) == (200, {"new": 1, "known": 0})
    assert await kept.post("/notes", given) == (200, {"new": 0, "known": 1})
    body = await kept.get("/notes")
    assert texts(body, "notes", "when") == ["2026-05-01T08:00:00+00:00"]
    assert texts(body, "notes", "session") == ["s"]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/notes", {"notes": [{"text": "x" * 1_001}]}, "at most 1000 characters"),
        ("/notes", {"notes": [{"text": "x", "page": "p" * 61}]}, "cannot be the name of a page"),
        ("/notes", {"notes": [{"text": "x", "when": "2026-05-01T10:00:00"}]}, "timezone"),
        ("/notes", {"notes": [{"text": "x", "when": "0"}]}, "written like"),
        ("/notes", {"notes": [{"text": "x", "session": "a b"}]}, "session"),
        ("/notes", {"notes": [{"text": "x"}] * 501}, "at most 500 items"),
        ("/forget", {"notes": ["n1"]}, "valid integer"),
        ("/forget", {"turns": [2**64]}, "less than or equal"),
        ("/forget", {"when": "tomorrow"}, "names no time that is over"),
        ("/forget", {"page": "\n"}, "cannot be the name of a page"),
    ],
)
async def test_what_is_wrong_is_said_and_nothing_happens(
    kept: Kept, path: str, body: object, said: str
) -> None:
    note = await kept.notebook.add("tea")
    status, answer = await kept.post(path, body)
    assert status in (400, 503)
    assert said in str(answer)
    assert await kept.notebook.notes() == [note]


async def test_forgetting(kept: Kept) -> None:
    for text, page in (("milk", "Shopping"), ("bread", "Shopping"), ("tea", ""), ("jam", "")):
        await kept.notebook.add(text, page)
    for _ in range(3):
        kept.memory.add("Is there milk?", "No.", "s")
    assert await kept.post("/forget", {"notes": [3, 77], "turns": [1]}) == (200, {"notes": 1, "turns": 1})
    assert await kept.post("/forget", {"page": "shopping"}) == (200, {"notes": 2, "turns": 0})
    assert await kept.post("/forget", {"when": "today"}) == (200, {"notes": 0, "turns": 2})
    assert await kept.post("/forget", {}) == (200, {"notes": 0, "turns": 0})
    kept.memory.add("Is there jam?", "Yes.", "s")
    assert await kept.post("/forget", {"everything": True}) == (200, {"notes": 1, "turns": 1})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"when": "gibberish"}, '"gibberish" names no time that is over'),
        ({"page": "p" * 61}, "cannot be the name of a page"),
        ({"when": "tomorrow", "everything": True}, "names no time that is over"),
    ],
)
async def test_a_wrong_part_of_what_is_to_be_forgotten_keeps_all_of_it(
    kept: Kept, wrong: dict[str, object], said: str
) -> None:
    notes = [await kept.notebook.add(text) for text in ("milk", "tea")]
    kept.memory.add("Is there milk?", "No.", "s")
    status, answer = await kept.post("/forget", {"notes": [1, 2], "turns": [1], **wrong})
    assert (status, said in str(answer)) == (400, True)
    assert await kept.notebook.notes() == notes
    assert (await kept.memory.kept()).turns == 1


async def test_where_a_file_fails_what_is_gone_already_is_said(kept: Kept, tmp_path: Path) -> None:
    for text in ("milk", "tea"):
        await kept.notebook.add(text)
    (tmp_path / "memory.db").unlink()
    damage(tmp_path / "memory.db")
    status, answer = await kept.post("/forget", {"notes": [1], "turns": [1]})
    assert status == 503
    assert "is damaged" in str(answer)
    assert "Before that, notes (1) and turns (0) were forgotten." in str(answer)
    status, answer = await kept.post("/forget", {"turns": [1]})
    assert (status, "Before that" in str(answer)) == (503, False)
    assert [note.text for note in await kept.notebook.notes()] == ["tea"]


async def test_the_engine_forgets_too_and_where_it_cannot_that_is_said(kept: Kept) -> None:
    kept.memory.add("Is there milk?", "No.", "s")
    kept.refusal = EngineBusyError("The engine is busy.", 1.0)
    status, answer = await kept.post("/forget", {"everything": True})
    assert (status, kept.talks) == (503, 1)
    assert "The engine may still hold what was said: The engine is busy." in str(answer)
    assert "turns (1) were forgotten" in str(answer)
    kept.refusal = None
    assert await kept.post("/forget", {"everything": True}) == (200, {"notes": 0, "turns": 0})
    assert kept.talks == 0


async def test_what_cannot_be_looked_at_is_said_beside_what_can(kept: Kept, tmp_path: Path) -> None:
    damage(tmp_path / "notebook.db")
    kept.memory.add("Is there milk?", "No.", "s")
    body = await kept.get("/search", query="milk")
    assert (body["notes"], texts(body, "turns", "answer")) == ([], ["No."])
    assert "The notebook cannot be read: " in str(body["unavailable"])
    assert "damaged" in str((await kept.get(""))["unavailable"])
    status, answer = await kept.post("/forget", {"notes": [1]})
    assert status == 503
    assert "is damaged" in str(answer)


def damage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


@pytest.mark.parametrize("query", ["limit=-1", "limit=x", "after=1e3", f"after={'9' * 30}", "limit=\u0663"])
async def test_numbers_are_numbers(kept: Kept, query: str) -> None:
    reply = await kept.client.get(f"/v1/memory/notes?{query}")
    assert reply.status_code == 400
    assert "must be a number" in reply.text


@pytest.mark.parametrize(
    "when",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
    ],
)
async def test_a_time_that_some_zone_has_no_date_for_is_refused(kept: Kept, when: str) -> None:
    status, body = await kept.post("/notes", {"notes": [{"text": "a"}, {"text": "b", "when": when}]})
    assert status == 400
    assert "give a time of the years 2 to 9998" in str(body["error"])
    assert texts(await kept.get("/notes"), "notes") == []


async def test_times_near_the_ends_are_kept_and_read(kept: Kept) -> None:
    given = ["0002-01-01T00:00:00+00:00", "9998-12-31T23:59:59+00:00"]
    assert (await kept.post("/notes", {"notes": [{"text": "a", "when": each} for each in given]}))[0] == 200
    assert texts(await kept.get("/notes"), "notes", "when") == given


async def test_a_kind_that_is_none_is_refused(kept: Kept) -> None:
    assert "kind must be notes or turns; 'pages' is neither." in str(await kept.get("/search", kind="pages"))
