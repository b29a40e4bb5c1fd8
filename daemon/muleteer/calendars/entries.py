"""What one event or one series of them says, kept small: thousands stay in memory.

Parsed by icalendar, repeated by recurring-ical-events (RRULE, RDATE, EXDATE, RECURRENCE-ID). Times come out
as naive local time. Does not know files.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import icalendar
import recurring_ical_events

from muleteer.calendars.rules import DamagedError, check_rule
from muleteer.services import Appointment
from muleteer.store.matching import fold

DAY = timedelta(days=1)
MOST_TIMES = 500  # EXDATE and RDATE lines, and events of one series with its exceptions


@dataclass(frozen=True, slots=True)
class Once:
    """One event at one time. `start` and `end` are both dates (all day), or both datetimes, naive where the
    event is at local time wherever one is, else in UTC."""

    title: str
    place: str
    start: date
    end: date
    busy: bool
    searchable: str

    def between(self, start: datetime, end: datetime) -> list[Appointment]:
        appointment = _appointment(self.title, self.place, self.start, self.end, self.busy)
        return [appointment] if overlaps(appointment, start, end) else []


@dataclass(frozen=True, slots=True)
class Series:
    """Events of one UID that repeat or are exceptions. `text` is a calendar with them alone, `first` and
    `last` are UTC moments outside of which there is none (`last` is None for an endless one)."""

    text: str
    first: datetime
    last: datetime | None
    searchable: str

    def between(self, start: datetime, end: datetime) -> list[Appointment]:
        """Raises `DamagedError` where the rules make no sense or never come to an end."""
        since, until = start.astimezone(UTC) - DAY, end.astimezone(UTC) + DAY
        if self.first >= until or (self.last is not None and self.last < since):
            return []
        try:
            calendar = icalendar.Calendar.from_ical(self.text)
            for event in calendar.events:
                for rule in _listed(event, "RRULE"):
                    check_rule(rule, _utc(_start(event)), until)
            occurrences = recurring_ical_events.of(calendar, skip_bad_series=False).between(since, until)
            found = [_occurrence(event) for event in occurrences if not is_cancelled(event)]
        except DamagedError:
            raise
        except Exception as error:  # the libraries raise anything; what it was is in the sentence
            raise DamagedError(f"its repetition makes no sense ({type(error).__name__})") from error
        return [each for each in found if overlaps(each, start, end)]


def entry(events: list[list[str]], default_zone: str) -> Once | Series | None:
    """What the events of one UID say; None if they are cancelled. `events` are their lines, with zones that
    icalendar knows. Raises `DamagedError`."""
    if len(events) > MOST_TIMES or any(len(lines) > MOST_TIMES for lines in events):
        raise DamagedError("it has too many exceptions")
    try:
        parsed = [_parsed(lines) for lines in events]
        if len(events) == 1 and not {"RRULE", "RDATE", "RECURRENCE-ID"} & parsed[0].keys():
            return None if is_cancelled(parsed[0]) else _once(parsed[0])
        return _series(events, parsed, default_zone)
    except DamagedError:
        raise
    except Exception as error:
        raise DamagedError(f"it cannot be read ({type(error).__name__})") from error


def overlaps(event: Appointment, start: datetime, end: datetime) -> bool:
    """Whether the event takes time between; one without a length counts at its moment."""
    if event.start == event.end:
        return start <= event.start < end
    return event.start < end and start < event.end


def is_cancelled(event: icalendar.Event) -> bool:
    return str(event.get("STATUS", "")).strip().upper() == "CANCELLED"


def _parsed(lines: list[str]) -> icalendar.Event:
    event = icalendar.Event.from_ical(_wrapped(lines))
    if not isinstance(event, icalendar.Event):
        raise DamagedError("it is no event")
    if broken := [str(name) for name, _ in event.errors if name]:
        raise DamagedError(f"its {' and '.join(sorted(set(broken)))} cannot be read")
    if "DTSTART" not in event:
        raise DamagedError("it does not say when it begins")
    return event


def _wrapped(lines: list[str]) -> str:
    return "\r\n".join(("BEGIN:VEVENT", *lines, "END:VEVENT", ""))


def _once(event: icalendar.Event) -> Once:
    start, end = times(event)
    title, place = _text(event, "SUMMARY") or "an entry without a title", _text(event, "LOCATION")
    return Once(title, place, _kept(start), _kept(end), _busy(event), _searchable([event]))


def times(event: icalendar.Event) -> tuple[date, date]:
    """When it begins and ends: both dates, or both datetimes alike in having a zone. A missing end is the
    same moment, or the same day; an end before the beginning was swapped with it."""
    start = _start(event)
    end = getattr(event.get("DTEND"), "dt", None)
    duration = getattr(event.get("DURATION"), "dt", None)
    if end is None and isinstance(duration, timedelta):
        end = start + (timedelta(days=duration.days) if not isinstance(start, datetime) else duration)
    if not isinstance(start, datetime):
        last = end.date() if isinstance(end, datetime) else end
        return start, max(last, start + DAY) if isinstance(last, date) else start + DAY
    if not isinstance(end, datetime):
        return start, start
    if (start.tzinfo is None) != (end.tzinfo is None):
        end = end.replace(tzinfo=start.tzinfo)
    return min(start, end), max(start, end)


def _start(event: icalendar.Event) -> date:
    begins: Any = event["DTSTART"]
    if isinstance(begins, list) or not isinstance(begins.dt, date):
        raise DamagedError("it does not say when it begins")
    return begins.dt


def _kept(moment: date) -> date:
    return moment.astimezone(UTC) if isinstance(moment, datetime) and moment.tzinfo else moment


def _series(events: list[list[str]], parsed: list[icalendar.Event], default_zone: str) -> Series | None:
    if all(is_cancelled(event) for event in parsed):
        return None
    head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Muleteer//EN"]
    if default_zone:
        head.append(f"X-WR-TIMEZONE:{default_zone}")
    text = "\r\n".join((*head, *(_wrapped(lines).rstrip() for lines in events), "END:VCALENDAR", ""))
    bounds = [_bounds(event) for event in parsed]
    lasts = [last for _, last in bounds]
    last = None if None in lasts else max(each for each in lasts if each is not None)
    return Series(text, min(first for first, _ in bounds), last, _searchable(parsed))


def _bounds(event: icalendar.Event) -> tuple[datetime, datetime | None]:
    """UTC moments before and after which the event and its repetitions are not; a day wider than needed."""
    start, end = times(event)
    moments = [_utc(start), _utc(end)]
    for each in _listed(event, "RDATE"):
        for given in each.dts:
            moments += [
                _utc(part)
                for part in (given.dt if isinstance(given.dt, tuple) else (given.dt,))
                if isinstance(part, date)
            ]
    length = max(moments[1] - moments[0], DAY)
    last: datetime | None = max(moments) + length + DAY
    for rule in _listed(event, "RRULE"):
        until = rule.get("UNTIL")
        far = not until or until[0].year > date.max.year - 100
        last = None if far or last is None else max(last, _utc(until[0]) + length + DAY)
    return min(moments) - DAY, last


def _utc(moment: date) -> datetime:
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _listed(event: icalendar.Event, name: str) -> list[Any]:
    value: Any = event.get(name, [])
    return value if isinstance(value, list) else [value]


def _occurrence(event: icalendar.Event) -> Appointment:
    start, end = times(event)
    title = _text(event, "SUMMARY") or "an entry without a title"
    return _appointment(title, _text(event, "LOCATION"), start, end, _busy(event))


def _appointment(title: str, place: str, start: date, end: date, busy: bool) -> Appointment:
    whole = not isinstance(start, datetime)
    return Appointment(title, _local(start), _local(end), whole, place, busy)


def _local(moment: date) -> datetime:
    """Naive local time, by the system's zone as it is now."""
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time())
    return moment.astimezone().replace(tzinfo=None) if moment.tzinfo else moment


def _busy(event: icalendar.Event) -> bool:
    return str(event.get("TRANSP", "")).strip().upper() != "TRANSPARENT"


def _text(event: icalendar.Event, name: str) -> str:
    """The first value of that name, on one line."""
    value = event.get(name, "")
    text = " ".join(str(value[0] if isinstance(value, list) else value).split())
    return text if len(text) <= 120 else text[:119] + "…"


def _searchable(events: list[icalendar.Event]) -> str:
    said = (_text(event, name) for event in events for name in ("SUMMARY", "LOCATION", "DESCRIPTION"))
    return fold(" ".join(dict.fromkeys(said)))
