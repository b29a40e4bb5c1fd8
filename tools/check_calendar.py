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
    joined,
    opening,
    read_days,
    say,
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
            return Result.error(
                say('I do not know which day "{day}" is. Name a date such as 24 December.', day=day)
            )
        query = day  # "dentist" was given as the day
    midnight = datetime.combine(now, time())
    try:
        if stretch is None and query:
            return await _search(home, query, now)
        stretch = stretch or Stretch(midnight, midnight + timedelta(days=1))
        agenda = await home.calendars.look(stretch.start, stretch.end, query)
    except OSError as error:
        return Result.unavailable(say("I could not look into the calendar: {why}", why=str(error)))
    return _told(agenda, stretch, query, now)


async def _search(home: Services, query: str, now: datetime) -> Result:
    """The next times of something; if there are none, the last one."""
    agenda = await home.calendars.look(now, now + AHEAD, query)
    if agenda.entries:
        said = _listed(agenda.entries[:3], now, dated=True)
        more = len(agenda.entries) + agenda.more - 3
        return _ok(
            say("{them}, and {more} more after that." if more > 0 else "{them}.", them=said, more=more),
            agenda,
        )
    before = await home.calendars.look(now - AHEAD, now, query)
    if before.entries and not before.more:
        last = _listed(before.entries[-1:], now, dated=True)
        pattern = 'Nothing about "{query}" is ahead; the last one was {last}.'
        return _ok(say(pattern, query=query, last=last), before)
    return _nothing(
        say('There is nothing about "{query}" in the calendar for a year ahead.', query=query), agenda
    )


def _told(agenda: Agenda, stretch: Stretch, query: str, now: datetime) -> Result:
    when = stretch.words(now.date())
    if not agenda.entries:
        pattern = 'Nothing about "{query}" is in the calendar {when}.'
        if not query:
            pattern = "Nothing is in the calendar {when}."
        return _nothing(say(pattern, query=query, when=when), agenda)
    one_day = stretch.start.date() == stretch.last
    said = _listed(agenda.entries[:SPOKEN], now, dated=not one_day)
    more = len(agenda.entries) + agenda.more - SPOKEN
    listed = say("{them}; and {more} more." if more > 0 else "{them}.", them=said, more=more)
    free = "" if query or any(entry.busy for entry in agenda.entries) else say("None of it takes up time.")
    return _ok(joined(" ", (say("{When}: {listed}", When=opening(when), listed=listed), free)), agenda)


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
    return Result.ok(joined(" ", (text, _unchecked(agenda))), Data(values), ("calendar",))


def _nothing(text: str, agenda: Agenda) -> Result:
    """Nothing was found: `empty` only if everything could be checked."""
    if agenda.unchecked:
        return Result.unavailable(joined(" ", (text, _unchecked(agenda))))
    return Result.empty(text)


def _unchecked(agenda: Agenda) -> str:
    if not agenda.unchecked:
        return ""
    return say("I could not check everything: {clauses}.", clauses="; ".join(agenda.unchecked))


def _listed(entries: tuple[Appointment, ...], now: datetime, dated: bool) -> str:
    return joined("; ", [_entry(entry, now, dated) for entry in entries])


def _entry(entry: Appointment, now: datetime, dated: bool) -> str:
    """ "09:00 to 10:00 Dentist (Main Street 5)", with the day in front where it is not said already."""
    last = (entry.end - timedelta(microseconds=entry.end > entry.start)).date()
    title = f"{entry.title} ({entry.place})" if entry.place else entry.title
    day, time = say_day(entry.start.date(), now.date()), f"{entry.start:%H:%M}"
    if entry.start.date() != last:
        begin, end = day, say_day(last, now.date())
        if not entry.whole_days:
            begin = say("{day} at {time}", day=begin, time=time)
            end = say("{day} at {time}", day=end, time=f"{entry.end:%H:%M}")
        return say("{title} from {begin} to {end}", title=title, begin=begin, end=end)
    said = say("all day {title}", title=title)
    if not entry.whole_days:
        pattern = "{begin} to {end} {title}" if entry.end > entry.start else "{begin} {title}"
        said = say(pattern, begin=time, end=f"{entry.end:%H:%M}", title=title)
    return joined(", ", (day, said)) if dated else said
