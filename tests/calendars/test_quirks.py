"""What calendar programs really write: Outlook, Google, Apple, Nextcloud, and what others make of it."""

from __future__ import annotations

import pytest

from muleteer.calendars import FolderCalendars
from muleteer.calendars.folder import parsed
from tests.calendars.conftest import Write, look, said

WEEK = ("2026-11-30", "2026-12-07")
MONDAYS = (
    "DTSTART;TZID=Europe/Berlin:20261102T090000\nDTEND;TZID=Europe/Berlin:20261102T100000\nSUMMARY:Choir\n"
)
OUTLOOK_ZONE = """BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0300
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0200
TZOFFSETTO:+0300
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE"""


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("DTSTART:20261201T080000Z\nDTEND:20261201T090000Z\nSUMMARY:UTC", "12-01 09:00/12-01 10:00 UTC"),
        (
            "DTSTART;TZID=America/New_York:20261201T030000\nDURATION:PT45M\nSUMMARY:Far",
            "12-01 09:00/12-01 09:45 Far",
        ),
        (
            "DTSTART:20261201T090000\nDTEND:20261201T100000\nSUMMARY:Floating",
            "12-01 09:00/12-01 10:00 Floating",
        ),
        ("DTSTART:20261201T090000\nSUMMARY:No end", "12-01 09:00/12-01 09:00 No end"),
        ("DTSTART;VALUE=DATE:20261201\nSUMMARY:Day", "12-01/12-02 Day"),
        ("DTSTART:20261201\nSUMMARY:Day without VALUE", "12-01/12-02 Day without VALUE"),
        (
            "DTSTART;VALUE=DATE:20261201\nDTEND;VALUE=DATE:20261201\nSUMMARY:Same day",
            "12-01/12-02 Same day",
        ),
        ("DTSTART;VALUE=DATE:20261129\nDTEND;VALUE=DATE:20261202\nSUMMARY:Trip", "11-29/12-02 Trip"),
        ("DTSTART;VALUE=DATE:20261201\nDURATION:P2D\nSUMMARY:Two days", "12-01/12-03 Two days"),
        (
            'DTSTART;TZID="W. Europe Standard Time":20261201T090000\nDTEND;TZID="W. Europe Standard Time":'
            "20261201T093000\nSUMMARY;LANGUAGE=de:Outlook",
            "12-01 09:00/12-01 09:30 Outlook",
        ),
        (
            "DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Lisbon:20261201T080000\nSUMMARY:Evolution",
            "12-01 09:00/12-01 09:00 Evolution",
        ),
        (
            "DTSTART;TZID=/mozilla.org/20050126_1/Europe/Lisbon:20261201T080000\nSUMMARY:Old",
            "12-01 09:00/12-01 09:00 Old",
        ),
        (
            "DTSTART;TZID=Europe/Berlin:20261201T090000\nDTEND;TZID=Europe/Berlin:20261201T080000\nSUMMARY:Back",
            "12-01 08:00/12-01 09:00 Back",
        ),
        (
            "DTSTART;TZID=Europe/Berlin:20261201T090000\nDTEND:20261201T093000\nSUMMARY:Mixed",
            "12-01 09:00/12-01 09:30 Mixed",
        ),
        ("DTSTART:20261201T080000Z\nDTEND;VALUE=DATE:20261202\nSUMMARY:Odd", "12-01 09:00/12-01 09:00 Odd"),
        ("DTSTART:20261201T080000Z", "12-01 09:00/12-01 09:00 an entry without a title"),
        (
            "DTSTART:20261201T080000Z\nSUMMARY:Tea\\, cake\\; and\\nmore",
            "12-01 09:00/12-01 09:00 Tea, cake; and more",
        ),
        (
            'DTSTART:20261201T080000Z\nSUMMARY:A lo\n ng tit\n\tle\nX-APPLE-STRUCTURED-LOCATION;X-A="b:c',
            "12-01 09:00/12-01 09:00 A long title",
        ),
        (
            "DTSTART:20261201T080000Z\nSUMMARY:Alarmed\nBEGIN:VALARM\nTRIGGER:bad\nSUMMARY:Not\nEND:VALARM",
            "12-01 09:00/12-01 09:00 Alarmed",
        ),
        (
            "this line is no property\nDTSTART:20261201T080000Z\nSUMMARY:Dirty\nATTACH;ENCODING=BASE64:%%%",
            "12-01 09:00/12-01 09:00 Dirty",
        ),
    ],
)
@pytest.mark.parametrize("end", ["\r\n", "\n"])
async def test_one_event(
    calendars: FolderCalendars, write: Write, event: str, expected: str, end: str
) -> None:
    write(event, end=end)
    agenda = await look(calendars, *WEEK)
    assert (said(agenda), agenda.unchecked) == ([expected], ())


async def test_a_mark_at_the_beginning_and_other_encodings(calendars: FolderCalendars, write: Write) -> None:
    path = write("DTSTART:20261201T080000Z\nSUMMARY:Café")
    text = path.read_text()
    for content in (b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16")):
        path.write_bytes(content)
        assert said(await look(calendars, *WEEK)) == ["12-01 09:00/12-01 09:00 Café"]
    path.write_bytes(text.encode("latin-1"))
    assert said(await look(calendars, *WEEK)) == ["12-01 09:00/12-01 09:00 Caf\ufffd"]


async def test_a_zone_of_the_file_s_own_is_that_file_s_alone(
    calendars: FolderCalendars, write: Write
) -> None:
    event = "DTSTART;TZID=Customized Time Zone:20261201T100000\nSUMMARY:{}"
    write(event.format("Athens"), head=OUTLOOK_ZONE)
    write(
        event.format("Elsewhere"),
        name="b.ics",
        head=OUTLOOK_ZONE.replace("0200", "0900").replace("0300", "1000"),
    )
    agenda = await look(calendars, *WEEK)
    assert said(agenda) == ["12-01 02:00/12-01 02:00 Elsewhere", "12-01 09:00/12-01 09:00 Athens"]
    assert agenda.unchecked == ()


@pytest.mark.parametrize(
    "zone",
    [
        "",
        "BEGIN:VTIMEZONE\nTZID:Nowhere\nEND:VTIMEZONE",
        OUTLOOK_ZONE.replace("TZOFFSETTO", "X-TO").replace("Customized Time Zone", "Nowhere"),
    ],
)
async def test_an_unknown_zone_is_taken_as_local_and_told(
    calendars: FolderCalendars, write: Write, zone: str
) -> None:
    write("DTSTART;TZID=Nowhere:20261201T090000\nSUMMARY:Lost", head=zone)
    agenda = await look(calendars, *WEEK)
    assert said(agenda) == ["12-01 09:00/12-01 09:00 Lost"]
    assert agenda.unchecked == ('the time zone "Nowhere" is unknown and was taken as local time',)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("RRULE:FREQ=WEEKLY", ["11-30 09:00/11-30 10:00 Choir"]),
        ("RRULE:FREQ=WEEKLY;UNTIL=20261129T235959Z", []),
        ("RRULE:FREQ=WEEKLY;COUNT=4", []),
        ("RRULE:FREQ=WEEKLY;COUNT=5", ["11-30 09:00/11-30 10:00 Choir"]),
        ("RRULE:FREQ=WEEKLY\nEXDATE;TZID=Europe/Berlin:20261130T090000", []),
        ("RRULE:FREQ=WEEKLY\nEXDATE:20261130T080000Z", []),
        ("RDATE;TZID=Europe/Berlin:20261202T110000", ["12-02 11:00/12-02 12:00 Choir"]),
        (
            "RRULE:FREQ=MONTHLY;BYDAY=1TU\nRDATE;TZID=Europe/Berlin:20261203T090000",
            ["12-01 09:00/12-01 10:00 Choir", "12-03 09:00/12-03 10:00 Choir"],
        ),
        ("RRULE:FREQ=WEEKLY;UNTIL=99991231T000000Z", ["11-30 09:00/11-30 10:00 Choir"]),
        ("RRULE:FREQ=MINUTELY;INTERVAL=1;COUNT=3", []),
        ("RRULE:FREQ=WEEKLY;UNTIL=20261201", ["11-30 09:00/11-30 10:00 Choir"]),
    ],
)
async def test_repeating(calendars: FolderCalendars, write: Write, rule: str, expected: list[str]) -> None:
    write(MONDAYS + rule)
    agenda = await look(calendars, *WEEK)
    assert (said(agenda), agenda.unchecked) == (expected, ())


async def test_a_repetition_keeps_its_hour_through_the_change_of_clocks(
    calendars: FolderCalendars, write: Write
) -> None:
    write("DTSTART;TZID=Europe/Berlin:20260706T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY\nSUMMARY:Choir")
    utc = "DTSTART:20260706T070000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY\nSUMMARY:"
    write(utc + "Google", name="google.ics", head="X-WR-TIMEZONE:Europe/Berlin")
    write(utc + "Plain", name="plain.ics")
    agenda = await look(calendars, *WEEK)
    expected = [
        "11-30 08:00/11-30 09:00 Plain",
        "11-30 09:00/11-30 10:00 Choir",
        "11-30 09:00/11-30 10:00 Google",
    ]
    assert said(agenda) == expected


async def test_exceptions_of_a_series(calendars: FolderCalendars, write: Write) -> None:
    write(
        MONDAYS + "UID:c\nRRULE:FREQ=WEEKLY",
        "UID:c\nRECURRENCE-ID;TZID=Europe/Berlin:20261130T090000\nDTSTART;TZID=Europe/Berlin:20261202T180000\n"
        "DTEND;TZID=Europe/Berlin:20261202T190000\nSUMMARY:Choir in the evening",
        "UID:c\nRECURRENCE-ID;TZID=Europe/Berlin:20261207T090000\nDTSTART;TZID=Europe/Berlin:20261207T090000\n"
        "STATUS:CANCELLED\nSUMMARY:Choir",
    )
    agenda = await look(calendars, "2026-11-30", "2026-12-15")
    assert said(agenda) == ["12-02 18:00/12-02 19:00 Choir in the evening", "12-14 09:00/12-14 10:00 Choir"]


async def test_an_exception_without_its_series(calendars: FolderCalendars, write: Write) -> None:
    write("UID:x\nRECURRENCE-ID:20261130T080000Z\nDTSTART:20261201T080000Z\nSUMMARY:Invited once")
    assert said(await look(calendars, *WEEK)) == ["12-01 09:00/12-01 09:00 Invited once"]


async def test_birthdays_and_leap_days(calendars: FolderCalendars, write: Write) -> None:
    write(
        "DTSTART;VALUE=DATE:19481203\nRRULE:FREQ=YEARLY\nTRANSP:TRANSPARENT\nSUMMARY:Oma",
        "DTSTART;VALUE=DATE:20000229\nRRULE:FREQ=YEARLY\nSUMMARY:Leap",
    )
    agenda = await look(calendars, *WEEK)
    assert said(agenda) == ["12-03/12-04 Oma"]
    assert not agenda.entries[0].busy
    assert said(await look(calendars, "2028-02-01", "2028-03-01")) == ["02-29/03-01 Leap"]


async def test_cancelled_is_left_out(calendars: FolderCalendars, write: Write) -> None:
    write(
        "DTSTART:20261201T080000Z\nSTATUS:CANCELLED\nSUMMARY:Off",
        MONDAYS + "RRULE:FREQ=WEEKLY\nSTATUS:cancelled",
        "DTSTART:20261201T090000Z\nSTATUS:TENTATIVE\nSUMMARY:Perhaps",
    )
    agenda = await look(calendars, *WEEK)
    assert (said(agenda), agenda.unchecked) == (["12-01 10:00/12-01 10:00 Perhaps"], ())


GOOD = "BEGIN:VEVENT\nUID:g\nDTSTART:20261201T080000Z\nSUMMARY:Good\nEND:VEVENT\n"


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("BEGIN:VEVENT\nUID:b\nDTSTART:yesterday\nEND:VEVENT\n", "its DTSTART cannot be read"),
        ("BEGIN:VEVENT\nUID:b\nSUMMARY:When?\nEND:VEVENT\n", "it does not say when it begins"),
        ("BEGIN:VEVENT\nUID:b\nDTSTART:20261201T080000Z\nSUMMARY:Cut off\n", "cut off in the middle"),
        (
            "BEGIN:VEVENT\nUID:b\nDTSTART:20261201T080000Z\nRRULE:FREQ=SOMETIMES\nEND:VEVENT\n",
            "its RRULE cannot be read",
        ),
        (
            "BEGIN:VEVENT\nUID:b\nDTSTART:20261201T080000Z\nDTSTART:20261202T080000Z\nEND:VEVENT\n",
            "it does not say when it begins",
        ),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_broken_event_does_not_hide_the_others(broken: str, why: str, first: bool) -> None:
    events = broken + GOOD if first else GOOD + broken
    read = parsed("a.ics", f"BEGIN:VCALENDAR\n{events}END:VCALENDAR\n".encode())
    assert len(read.entries) == 1
    assert read.problem == f"1 of the entries in a.ics is damaged ({why})"


@pytest.mark.parametrize(
    "rule",
    [
        "RRULE:FREQ=DAILY;INTERVAL=0",
        "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "RRULE:FREQ=DAILY;BYYEARDAY=400",
        "RRULE:FREQ=SECONDLY",
        "RRULE:FREQ=MINUTELY;INTERVAL=2",
        "RRULE:FREQ=DAILY;BYHOUR=0,1,2,3,4,5;BYMINUTE=0,1,2,3,4,5,6",
    ],
)
async def test_an_endless_repetition_is_told_and_never_run(
    calendars: FolderCalendars, write: Write, rule: str
) -> None:
    write(f"DTSTART:20000101T080000Z\nSUMMARY:Tick\n{rule}", "DTSTART:20261201T080000Z\nSUMMARY:Good")
    agenda = await look(calendars, *WEEK)
    assert said(agenda) == ["12-01 09:00/12-01 09:00 Good"]
    assert len(agenda.unchecked) == 1
    assert agenda.unchecked[0].startswith("a repeating entry (it repeats ")
