"""What is on, in one sentence; and that "nothing" is said only where everything was looked at."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from muleteer.calendars import FolderCalendars
from muleteer.paths import share_dir
from muleteer.services import Absent, Services
from muleteer.tool import Data, Result, Status, say_day
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters
from tools.check_calendar import check_calendar

TODAY = datetime.now().date()
TOMORROW = TODAY + timedelta(days=1)
LATER = TODAY + timedelta(days=3)
BEFORE = TODAY - timedelta(days=40)


def boxed(calendars: FolderCalendars | Absent) -> Toolbox:
    return Toolbox.load([share_dir() / "tools"], Services(Absent("no notes"), calendars=calendars))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "calendars"
    made.mkdir()
    return made


@pytest.fixture
def toolbox(folder: Path) -> Toolbox:
    return boxed(FolderCalendars([folder]))


@pytest.fixture
def full(folder: Path, toolbox: Toolbox) -> Toolbox:
    """Tomorrow a dentist in the morning and a birthday, in three days a trip, and something long ago."""
    events = (
        f"DTSTART:{TOMORROW:%Y%m%d}T090000\nDURATION:PT1H\nSUMMARY:Dentist\nLOCATION:Main Street",
        f"DTSTART;VALUE=DATE:{TOMORROW:%Y%m%d}\nTRANSP:TRANSPARENT\nSUMMARY:Anna's birthday",
        f"DTSTART;VALUE=DATE:{LATER:%Y%m%d}\nDURATION:P2D\nSUMMARY:Trip",
        f"DTSTART:{BEFORE:%Y%m%d}T080000\nSUMMARY:Blood test",
    )
    blocks = "".join(f"BEGIN:VEVENT\nUID:{n}\n{event}\nEND:VEVENT\n" for n, event in enumerate(events))
    (folder / "home.ics").write_text(f"BEGIN:VCALENDAR\n{blocks}END:VCALENDAR\n")
    return toolbox


def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, check_calendar)
    assert toolbox.tools["check_calendar"].effect == "read"


@pytest.mark.parametrize(
    "day", ["tomorrow", "Morgen", "what is on tomorrow", f"{TOMORROW}", f"{TOMORROW:%d.%m.}"]
)
async def test_ok_lists_the_day(full: Toolbox, day: str) -> None:
    result = await call(full, "check_calendar", day=day)
    assert result.status is Status.OK
    assert result.text == "Tomorrow: all day Anna's birthday; 09:00 to 10:00 Dentist (Main Street)."
    assert isinstance(result.payload, Data)
    assert [entry["title"] for entry in result.payload.values["entries"]] == ["Anna's birthday", "Dentist"]  # type: ignore[attr-defined]  # a list


async def test_several_days_are_said_with_their_dates(full: Toolbox) -> None:
    result = await call(full, "check_calendar", day="next 3 days")
    assert result.text == (
        f"From {say_day(TODAY, TODAY)} to {say_day(TODAY + timedelta(2), TODAY)}: "
        f"{say_day(TOMORROW, TODAY)}, all day Anna's birthday; "
        f"{say_day(TOMORROW, TODAY)}, 09:00 to 10:00 Dentist (Main Street)."
    )
    trip = await call(full, "check_calendar", day=f"{LATER}")
    assert trip.text.endswith(
        f": Trip from {say_day(LATER, TODAY)} to {say_day(LATER + timedelta(1), TODAY)}."
    )


async def test_free_time(full: Toolbox) -> None:
    result = await call(full, "check_calendar", day="tomorrow afternoon")
    assert result.text == "Tomorrow afternoon: all day Anna's birthday. None of it takes up time."
    assert await call(full, "check_calendar", day="tonight") == Result.empty(
        "Nothing is in the calendar this evening."
    )


@pytest.mark.parametrize(("day", "query"), [("", "dentist"), ("dentist", ""), ("", "my dentits appointment")])
async def test_an_appointment_is_found_without_its_day(full: Toolbox, day: str, query: str) -> None:
    result = await call(full, "check_calendar", day=day, query=query)
    assert result.text == f"{say_day(TOMORROW, TODAY)}, 09:00 to 10:00 Dentist (Main Street)."


async def test_what_is_over_is_found_where_nothing_is_ahead(full: Toolbox) -> None:
    result = await call(full, "check_calendar", query="blood test")
    assert result.text == (
        f'Nothing about "blood test" is ahead; the last one was {say_day(BEFORE, TODAY)}, 08:00 Blood test.'
    )


async def test_empty_is_what_was_looked_for_and_is_not_there(full: Toolbox) -> None:
    assert await call(full, "check_calendar", day="yesterday") == Result.empty(
        "Nothing is in the calendar yesterday."
    )
    result = await call(full, "check_calendar", query="optician")
    assert result == Result.empty('There is nothing about "optician" in the calendar for a year ahead.')
    result = await call(full, "check_calendar", day="tomorrow", query="optician")
    assert result == Result.empty('Nothing about "optician" is in the calendar tomorrow.')


async def test_unavailable_without_a_folder_or_one_that_can_be_read(folder: Path) -> None:
    result = await call(boxed(FolderCalendars([])), "check_calendar")
    assert result.status is Status.UNAVAILABLE
    assert "calendar.folders" in result.text
    result = await call(boxed(FolderCalendars([folder / "missing"])), "check_calendar", query="dentist")
    assert result.status is Status.UNAVAILABLE
    assert "No such file or directory" in result.text


async def test_nothing_is_not_empty_while_a_part_is_unread(full: Toolbox, folder: Path) -> None:
    (folder / "b.ics").write_text("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:no\nEND:VEVENT\nEND:VCALENDAR\n")
    told = " I could not check everything: 1 of the entries in b.ics is damaged (its DTSTART cannot be read)."
    result = await call(full, "check_calendar", day="tonight")
    assert result == Result.unavailable(f"Nothing is in the calendar this evening.{told}")
    result = await call(full, "check_calendar", day="tomorrow")
    assert result.status is Status.OK
    assert result.text.endswith(f"Dentist (Main Street).{told}")


async def test_a_day_that_nobody_knows_is_an_error(full: Toolbox) -> None:
    result = await call(full, "check_calendar", day="the 45th", query="dentist")
    assert result == Result.error('I do not know which day "the 45th" is. Name a date such as 24 December.')
    result = await call(full, "check_calendar", day="31.6.")
    assert result == Result.error('I do not know which day "31.6." is. Name a date such as 24 December.')


async def test_a_day_that_is_given_as_the_query_is_a_day(full: Toolbox) -> None:
    asked = await call(full, "check_calendar", query="tomorrow")
    assert asked == await call(full, "check_calendar", day="tomorrow")
    assert (await call(full, "check_calendar")).text.startswith(("Nothing is in the calendar today", "Today"))
