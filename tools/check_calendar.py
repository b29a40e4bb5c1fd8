"""Look into the household's calendars."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from muleteer.tool import (
    Agenda,
    Appointment,
    Data,
    Result,
    Services,
    Stretch,
    find_days,
    read_days,
    say_day,
    tool,
)

AHEAD = timedelta(days=366)  # how far a search without a day looks ahead, and then back
SPOKEN = 8  # entries in the sentence; the payload has all


@tool(
    effect="read",
    menu=False,
    said=("day",),
    signature="check_calendar(day, query)",
    craft="The day is in the user's own words, such as Friday afternoon, morgen, next week or 24.12.; leave "
    "it empty if none is named. The query is the name of one appointment or person; leave it empty to hear "
    "of everything on that day.",
)
async def check_calendar(home: Services, day: str = "", query: str = "") -> Result:
    """Look up appointments and free time in the calendar. Use it for every question about what is planned.

    day: the day, days or part of a day that is asked about; empty for today, or for any day with a query
    query: a word of the appointment that is looked for; empty for all
    """
    now = datetime.now()
    day, query = " ".join(day.split()), " ".join(query.split())
    stretch = find_days(day, now)
    if not day and (stretch := read_days(query, now)):
        query = ""  # "Friday" was given as the query
    elif day and stretch is None:
        if query or any(sign.isdigit() for sign in day):
            return Result.error(f'I do not know which day "{day}" is. Name a date such as 24 December.')
        query = day  # "dentist" was given as the day
    midnight = datetime.combine(now, time())
    try:
        if stretch is None and query:
            return await _search(home, query, now)
        stretch = stretch or Stretch(midnight, midnight + timedelta(days=1))
        agenda = await home.calendars.look(stretch.start, stretch.end, query)
    except OSError as error:
        return Result.unavailable(f"I could not look into the calendar: {error}")
    return _told(agenda, stretch, query, now)


async def _search(home: Services, query: str, now: datetime) -> Result:
    """The next times of something; if there are none, the last one."""
    agenda = await home.calendars.look(now, now + AHEAD, query)
    if agenda.entries:
        said = _listed(agenda.entries[:3], now, dated=True)
        more = len(agenda.entries) + agenda.more - 3
        return _ok(f"{said}{f', and {more} more after that' if more > 0 else ''}.", agenda)
    before = await home.calendars.look(now - AHEAD, now, query)
    if before.entries and not before.more:
        last = _listed(before.entries[-1:], now, dated=True)
        return _ok(f'Nothing about "{query}" is ahead; the last one was {last}.', before)
    return _nothing(f'There is nothing about "{query}" in the calendar for a year ahead.', agenda)


def _told(agenda: Agenda, stretch: Stretch, query: str, now: datetime) -> Result:
    when = stretch.words(now.date())
    if not agenda.entries:
        what = f'Nothing about "{query}"' if query else "Nothing"
        return _nothing(f"{what} is in the calendar {when}.", agenda)
    one_day = stretch.start.date() == stretch.last
    said = _listed(agenda.entries[:SPOKEN], now, dated=not one_day)
    more = len(agenda.entries) + agenda.more - SPOKEN
    end = f"; and {more} more" if more > 0 else ""
    free = "" if query or any(entry.busy for entry in agenda.entries) else " None of it takes up time."
    return _ok(f"{when[0].upper()}{when[1:]}: {said}{end}.{free}", agenda)


def _ok(text: str, agenda: Agenda) -> Result:
    entries: list[dict[str, object]] = [
        {
            "title": entry.title,
            "start": entry.start.isoformat(timespec="minutes"),
            "end": entry.end.isoformat(timespec="minutes"),
            "whole_days": entry.whole_days,
            "place": entry.place,
            "busy": entry.busy,
        }
        for entry in agenda.entries
    ]
    values: dict[str, object] = {"entries": entries, "more": agenda.more, "unchecked": list(agenda.unchecked)}
    return Result.ok(text + _unchecked(agenda), Data(values), ("calendar",))


def _nothing(text: str, agenda: Agenda) -> Result:
    """Nothing was found: `empty` only if everything could be checked."""
    if agenda.unchecked:
        return Result.unavailable(f"{text[:-1]} as far as it can be read.{_unchecked(agenda)}")
    return Result.empty(text)


def _unchecked(agenda: Agenda) -> str:
    return f" I could not check everything: {'; '.join(agenda.unchecked)}." if agenda.unchecked else ""


def _listed(entries: tuple[Appointment, ...], now: datetime, dated: bool) -> str:
    return "; ".join(_entry(entry, now, dated) for entry in entries)


def _entry(entry: Appointment, now: datetime, dated: bool) -> str:
    """ "09:00 to 10:00 Dentist (Main Street 5)", with the day in front where it is not said already."""
    last = (entry.end - timedelta(microseconds=entry.end > entry.start)).date()
    place = f" ({entry.place})" if entry.place else ""
    if entry.start.date() != last:
        begin, end = say_day(entry.start.date(), now.date()), say_day(last, now.date())
        if not entry.whole_days:
            begin, end = f"{begin} at {entry.start:%H:%M}", f"{end} at {entry.end:%H:%M}"
        return f"{entry.title}{place} from {begin} to {end}"
    day = f"{say_day(entry.start.date(), now.date())}, " if dated else ""
    if entry.whole_days:
        return f"{day}all day {entry.title}{place}"
    span = f"{entry.start:%H:%M}" + (f" to {entry.end:%H:%M}" if entry.end > entry.start else "")
    return f"{day}{span} {entry.title}{place}"
