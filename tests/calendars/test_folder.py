"""Folders as they are: damaged files, huge ones, many, none; and nothing read twice."""

from __future__ import annotations

import errno
import os
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.calendars import FolderCalendars, service
from muleteer.calendars import folder as folders
from muleteer.calendars.folder import Folder, parsed
from muleteer.calendars.rules import DamagedError
from muleteer.documents.folders import Stamp
from tests.calendars.conftest import Write, look, said

WEEK = ("2026-11-30", "2026-12-07")
EVENT = "DTSTART:20261201T080000Z\nSUMMARY:{}"


async def test_files_below_and_only_calendar_files_are_read(
    calendars: FolderCalendars, write: Write, folder: Path
) -> None:
    write(EVENT.format("One"), name="work/1.ics")
    write(EVENT.format("Two"), name="2.ICS")
    write(EVENT.format("Hidden"), name=".3.ics")
    write(EVENT.format("Other"), name="4.txt")
    (folder / "work" / "loop").symlink_to(folder)
    (folder / "broken.ics").symlink_to(folder / "nowhere")
    agenda = await look(calendars, *WEEK)
    assert [entry.title for entry in agenda.entries] == ["One", "Two"]
    assert agenda.unchecked == ()


async def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(
    calendars: FolderCalendars, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    really = folders.read_file

    def watched(root: Path, path: str, stamp: Stamp) -> folders.Read:
        read.append(path)
        return really(root, path, stamp)

    monkeypatch.setattr(folders, "read_file", watched)
    write(EVENT.format("Old"))
    write(EVENT.format("Still"), name="b.ics")
    await look(calendars, *WEEK)
    write(EVENT.format("Newer"))
    assert [entry.title for entry in (await look(calendars, *WEEK)).entries] == ["Newer", "Still"]
    assert sorted(read) == ["b.ics", "home.ics", "home.ics"]


async def test_a_removed_file_is_forgotten(calendars: FolderCalendars, write: Write) -> None:
    path = write(EVENT.format("Gone"))
    assert len((await look(calendars, *WEEK)).entries) == 1
    path.unlink()
    assert (await look(calendars, *WEEK)).entries == ()


async def test_what_cannot_be_read_is_told_and_the_rest_is_answered(
    calendars: FolderCalendars, write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "LARGEST_FILE", 1000)
    write(EVENT.format("Good"))
    (folder / "garbage.ics").write_bytes(os.urandom(500))
    (folder / "huge.ics").write_bytes(b"x" * 1001)
    os.mkfifo(folder / "pipe.ics")
    agenda = await look(calendars, *WEEK)
    assert said(agenda) == ["12-01 09:00/12-01 09:00 Good"]
    assert sorted(agenda.unchecked) == [
        "garbage.ics is no calendar file",
        "huge.ics cannot be read (larger than 1,000 bytes)",
        "pipe.ics cannot be read (not a regular file)",
    ]


async def test_many_problems_are_counted(calendars: FolderCalendars, folder: Path) -> None:
    for number in range(9):
        (folder / f"{number}.ics").write_text("nonsense")
    assert (await look(calendars, *WEEK)).unchecked[3:] == ("6 more parts",)


async def test_no_folder_that_can_be_read_is_an_error_and_one_of_two_is_told(
    write: Write, folder: Path
) -> None:
    missing = folder / "missing"
    with pytest.raises(OSError, match=r"the folder .*missing cannot be read \(No such file or directory\)"):
        await look(FolderCalendars([missing]), *WEEK)
    write(EVENT.format("Good"))
    agenda = await look(FolderCalendars([missing, folder]), *WEEK)
    assert len(agenda.entries) == 1
    assert agenda.unchecked == (f"the folder {missing} cannot be read (No such file or directory)",)


async def test_an_empty_folder_was_looked_into(calendars: FolderCalendars) -> None:
    agenda = await look(calendars, *WEEK)
    assert (agenda.entries, agenda.unchecked) == ((), ())


def test_without_time_the_rest_is_left_for_the_next_call(write: Write, folder: Path) -> None:
    for number in range(5):
        write(EVENT.format(number), name=f"{number}.ics")
    looked = Folder(folder)
    looked.refresh(time.monotonic() + 60)
    assert (len(looked.files), looked.unread) == (5, 0)
    late = Folder(folder)
    late.files = {path: read for path, read in looked.files.items() if not path.endswith("0.ics")}
    write(EVENT.format("new"), name="1.ics")
    late.refresh(time.monotonic() - 1)
    assert late.too_many, "what could not even be listed is told"
    late.refresh(time.monotonic() + 60)
    assert (len(late.files), late.unread, late.too_many) == (5, 0, False)


async def test_more_files_or_entries_than_the_limit_are_told(
    calendars: FolderCalendars, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        write(EVENT.format(number), name=f"{number}.ics")
    monkeypatch.setattr(folders, "MOST_FILES", 4)
    agenda = await look(calendars, *WEEK)
    assert len(agenda.entries) == 4
    assert agenda.unchecked == ("calendars has more files or entries than can be read",)
    monkeypatch.setattr(folders, "MOST_FILES", 100)
    monkeypatch.setattr(folders, "MOST_ENTRIES", 4)
    assert (await look(calendars, *WEEK)).unchecked[0].endswith("are not read yet")


async def test_one_file_of_thousands_of_events(calendars: FolderCalendars, write: Write) -> None:
    start = datetime(2026, 12, 1, 8)
    write(*(f"DTSTART:{start + timedelta(hours=n):%Y%m%dT%H%M%SZ}\nSUMMARY:Event {n}" for n in range(3000)))
    agenda = await look(calendars, "2026-12-01", "2027-12-01")
    assert (len(agenda.entries), agenda.more) == (100, 2900)
    assert [
        entry.title for entry in (await look(calendars, "2027-01-01", "2027-01-02", "event 740")).entries
    ] == ["Event 740"]


async def test_the_same_event_in_two_calendars_is_said_once(calendars: FolderCalendars, write: Write) -> None:
    write(EVENT.format("Dinner"))
    write(EVENT.format("Dinner"), name="b.ics")
    assert len((await look(calendars, *WEEK)).entries) == 1


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("dentist", ["Dentist Dr. Weber"]),
        ("dentsit appointment", ["Dentist Dr. Weber"]),
        ("Weber", ["Dentist Dr. Weber"]),
        ("Hauptstraße", ["Dentist Dr. Weber"]),
        ("school parents", ["Parents' evening (school)"]),
        ("hairdresser", []),
        ("my appointments", ["Dentist Dr. Weber", "Parents' evening (school)"]),
    ],
)
async def test_a_query_by_words(
    calendars: FolderCalendars, write: Write, query: str, titles: list[str]
) -> None:
    write(
        EVENT.format("Dentist Dr. Weber") + "\nLOCATION:Hauptstraße 5",
        "DTSTART:20261202T180000Z\nRRULE:FREQ=YEARLY\nSUMMARY:Parents' evening (school)",
    )
    assert [entry.title for entry in (await look(calendars, *WEEK, query)).entries] == titles


PIECES = st.sampled_from(
    """BEGIN:VCALENDAR|END:VCALENDAR|BEGIN:VEVENT|END:VEVENT|BEGIN:VTIMEZONE|END:VTIMEZONE|TZID:X|BEGIN:STANDARD|
    END:STANDARD|BEGIN:VALARM|END:VALARM|UID:1|UID:2|SUMMARY:Tea|DTSTART:20261201T080000Z|DTSTART;TZID=X:20261201T080000|
    DTSTART;VALUE=DATE:20261201|DTEND:20261201T090000|DTEND;VALUE=DATE:99999999|DURATION:PT1H|DURATION:-P9999999W|
    RRULE:FREQ=DAILY|RRULE:FREQ=WEEKLY;COUNT=0|RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30|RRULE:FREQ=DAILY;INTERVAL=0|
    RRULE:FREQ=DAILY;UNTIL=00010101|RDATE:20261202T080000Z|RDATE;VALUE=PERIOD:20261202T080000Z/PT1H|EXDATE:20261201|
    RECURRENCE-ID:20261201T080000Z|RECURRENCE-ID;RANGE=THISANDFUTURE:20261201T080000Z|STATUS:CANCELLED|
    X-WR-TIMEZONE:Europe/Berlin|X-WR-TIMEZONE:Mars|TZOFFSETFROM:+0100|TZOFFSETTO:+9900|DTSTART:00010101T000000Z|
    DTSTART:99991231T235959Z|SEQUENCE:x|TRANSP:|:|;;;=""".replace("\n    ", "").split("|")
)


@given(st.lists(PIECES | st.text(max_size=20), max_size=25))
def test_no_content_is_a_failure(lines: list[str]) -> None:
    read = parsed("a.ics", "\n".join(lines).encode(errors="replace"))
    for entry in read.entries:
        try:
            entry.between(datetime(2026, 11, 30), datetime(2026, 12, 7))
        except DamagedError:
            continue


@given(st.binary(max_size=300))
def test_no_bytes_are_a_failure(content: bytes) -> None:
    assert parsed("a.ics", b"BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + content).entries == ()


async def test_a_folder_that_hangs_is_told_each_time_and_comes_back(
    calendars: FolderCalendars, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(EVENT.format("Good"))
    answers = threading.Event()
    really = os.scandir

    def hanging(path: str) -> object:
        answers.wait()
        return really(path)

    monkeypatch.setattr(os, "scandir", hanging)  # as the kernel does for a lost network drive
    monkeypatch.setattr(service, "HANG_SECONDS", 0.05)
    for _ in range(2):
        with pytest.raises(OSError, match="do not answer in time"):
            await look(calendars, *WEEK)
    monkeypatch.setattr(service, "HANG_SECONDS", 10.0)
    answers.set()
    assert said(await look(calendars, *WEEK)) == ["12-01 09:00/12-01 09:00 Good"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
async def test_a_folder_below_that_cannot_be_looked_at_is_told(
    calendars: FolderCalendars, write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """The error is raised where the kernel would: tests may run as root, to whom no folder is closed."""
    write(EVENT.format("Hidden"), name="work/1.ics")
    really = os.open

    def opening(path: str, *rest: Any, **named: Any) -> int:
        if path == "work":
            raise OSError(code, os.strerror(code), path)
        return really(path, *rest, **named)

    monkeypatch.setattr(os, "open", opening)
    why = f"the folder {folder / 'work'} cannot be read ({os.strerror(code)})"
    assert (await look(calendars, *WEEK)).unchecked == (why,)
    monkeypatch.setattr(os, "open", really)
    assert said(await look(calendars, *WEEK)) == ["12-01 09:00/12-01 09:00 Hidden"]


async def test_a_folder_too_deep_is_told(calendars: FolderCalendars, folder: Path, write: Write) -> None:
    deep = folder / "1/2/3/4/5/6"
    deep.mkdir(parents=True)
    write(EVENT.format("Six")).rename(deep / "six.ics")
    agenda = await look(calendars, *WEEK)
    assert ([entry.title for entry in agenda.entries], agenda.unchecked) == (["Six"], ())
    (deep / "7").mkdir()
    (deep / "six.ics").rename(deep / "7" / "seven.ics")
    agenda = await look(calendars, *WEEK)
    assert agenda.unchecked == (f"folders in {deep} are too deep to be looked into",)


@pytest.mark.parametrize("place", ["", "disk"])
async def test_a_folder_emptied_as_by_unmounting_is_told_and_one_that_was_cleared_is_not(
    calendars: FolderCalendars, write: Write, folder: Path, tmp_path: Path, place: str
) -> None:
    disk = folder / place
    write(EVENT.format("Here"), name=f"{place}/1.ics" if place else "1.ics")
    assert (await look(calendars, *WEEK)).unchecked == ()
    disk.rename(tmp_path / "away")
    disk.mkdir()
    for _ in range(2):
        agenda = await look(calendars, *WEEK)
        assert agenda.entries == ()
        assert agenda.unchecked == (f"{disk} is empty, where files were; its disk may not be mounted",)
    disk.rmdir()
    (tmp_path / "away").rename(disk)
    assert said(await look(calendars, *WEEK)) == ["12-01 09:00/12-01 09:00 Here"]
    (disk / "1.ics").unlink()
    agenda = await look(calendars, *WEEK)
    assert (agenda.entries, agenda.unchecked) == ((), ())


async def test_links_out_of_the_folder_are_not_followed_and_told(
    calendars: FolderCalendars, write: Write, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    write(EVENT.format("Elsewhere")).rename(outside / "x.ics")
    (folder / "file.ics").symlink_to(outside / "x.ics")
    (folder / "all").symlink_to(outside)
    (folder / "note.txt").symlink_to("/etc/hostname")
    agenda = await look(calendars, *WEEK)
    assert agenda.entries == ()
    assert sorted(agenda.unchecked) == [
        f"{folder / name} is a link, which is not followed" for name in ("all", "file.ics")
    ]


def test_a_file_swapped_for_a_link_between_look_and_open_is_not_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.ics").write_text("BEGIN:VCALENDAR")
    (folder / "a.ics").symlink_to(tmp_path / "x.ics")
    assert "a.ics cannot be read" in folders.read_file(folder, "a.ics", folders.UNKNOWN).problem
