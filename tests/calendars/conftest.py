"""Calendar files in a folder, seen from Berlin."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from muleteer.calendars import FolderCalendars
from muleteer.services import Agenda

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The system's zone."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "calendars"
    made.mkdir()
    return made


@pytest.fixture
def write(folder: Path) -> Write:
    """Write a calendar file of events, each given by its lines; `head` are lines before them."""

    def write_it(*events: str, name: str = "home.ics", head: str = "", end: str = "\r\n") -> Path:
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *head.split("\n")]
        for number, event in enumerate(events):
            uid = [] if "UID:" in event else [f"UID:{name}-{number}"]
            lines += ["BEGIN:VEVENT", *uid, *event.strip().split("\n"), "END:VEVENT"]
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        text = end.join([*(line for line in lines if line), "END:VCALENDAR", ""])
        path.write_bytes(text.encode())
        return path

    return write_it


@pytest.fixture
def calendars(folder: Path) -> FolderCalendars:
    return FolderCalendars([folder])


def said(agenda: Agenda) -> list[str]:
    """Each entry as "day start-end title", whole days without hours."""
    found = []
    for entry in agenda.entries:
        form = "%m-%d" if entry.whole_days else "%m-%d %H:%M"
        found.append(f"{entry.start:{form}}/{entry.end:{form}} {entry.title}")
    return found


async def look(calendars: FolderCalendars, first: str, last: str, query: str = "") -> Agenda:
    return await calendars.look(datetime.fromisoformat(first), datetime.fromisoformat(last), query)
