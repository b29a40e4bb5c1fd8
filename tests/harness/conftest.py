"""A small catalogue made in code: three tools, one skill, and a record of what ran."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muleteer.harness.exact import MISMATCH
from muleteer.skills import Catalogue, Skill
from muleteer.tool import Note, Notes, Result, Services, tool
from muleteer.toolbox import Toolbox


class NoNotebook:
    async def add(self, text: str, page: str = "") -> Note:
        return Note(text, datetime.now(UTC))

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return []


class House:
    """The catalogue, what its tools were called with, and what they shall return next (by tool name)."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, object]] = []
        self.results: dict[str, list[Result]] = {}

        def next_result(name: str, argument: object, default: Result) -> Result:
            self.ran.append((name, argument))
            queued = self.results.get(name)
            return queued.pop(0) if queued else default

        @tool(effect="read", examples=("what time is it",))
        async def clock(place: str = "") -> Result:
            """Tell the time.

            place: a city
            """
            return next_result("clock", place, Result.ok("It is noon."))

        @tool(effect="read", menu=False)
        async def find_note(query: str) -> Result:
            """Look into the notebook.

            query: words to look for
            """
            return next_result("find_note", query, Result.ok('One note: "tea".', Notes(("tea",))))

        @tool(effect="write")
        async def keep(note: str) -> Result:
            """Keep a note.

            note: the text
            """
            return next_result("keep", note, Result.ok(f'Noted: "{note}".'))

        @tool(effect="read")
        async def ping() -> Result:
            """Say that the device is alive."""
            return next_result("ping", None, Result.ok("I am here."))

        @tool(effect="read", hidden=True)
        async def list_ports() -> Result:
            """List serial ports."""
            return next_result("list_ports", None, Result.ok("none"))

        toolbox = Toolbox.of([clock, find_note, keep, ping, list_ports], Services(NoNotebook()))
        assert not toolbox.disabled
        look = Skill(
            name="look-up",
            description="Find what the user told earlier.",
            steps="1. Ask @find-note. 2. If that has nothing, ask @clock.",
            examples=("where are my keys",),
            mentions=("find-note", "clock"),
            schedule="",
            budget=None,
            path=Path("look-up/SKILL.md"),
        )
        self.catalogue = Catalogue({"look-up": look}, toolbox)


@pytest.fixture(autouse=True)
def _tokens_add_up(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """In every turn of every test here; one that is about turns where they do not clears the log."""
    yield
    assert not [record.message for record in caplog.get_records("call") if MISMATCH in record.message]


@pytest.fixture
def house() -> House:
    return House()


def anybody(asker: str) -> bool:
    """May answer every question."""
    return True
