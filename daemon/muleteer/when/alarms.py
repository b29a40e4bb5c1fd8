"""Alarms as people name them: "tomorrow 6 am", "weekdays 6:30", "jeden Montag um acht".

Knows when an alarm rings on the wall clock, not who rings it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from muleteer.when.clocks import LATER, find_clock, read_clock, without
from muleteer.when.days import read_days
from muleteer.when.words import WEEKDAY, fold

EVERY_DAY = frozenset(range(7))
WORKDAYS = frozenset(range(5))

_REPEATS = (
    (r"\b(?:every ?day|daily|each day|taglich|jeden (?:tag|morgen|abend))\b", EVERY_DAY),
    (r"\bevery (?:morning|evening|night)\b", EVERY_DAY),
    (r"\b(?:(?:every|each|on) )?(?:week ?days?|work ?days?)\b", WORKDAYS),
    (r"\b(?:an |jede[mn] )?(?:werktags?|werktagen|wochentags?|wochentagen)\b", WORKDAYS),
    (r"\bmo(?:n|nday|ntag)?(?: (?:to|bis|until) | ?- ?| )(?:fr|fri|friday|freitag)\b", WORKDAYS),
    (r"\b(?:(?:every|each|on) )?weekends\b", frozenset((5, 6))),
)


@dataclass(frozen=True, slots=True)
class Alarm:
    """When to ring: first at `at` (naive local time), then at its time of day on the weekdays `repeat` (0 is
    Monday); once where there are none."""

    at: datetime
    repeat: frozenset[int] = frozenset()


def read_alarm(text: str, now: datetime) -> Alarm | None:
    """When an alarm rings first, after `now` (naive local time), and on which weekdays again; or None."""
    folded, repeat = _without_repeat(re.sub(r"(\d\d-\d\d)t(?=\d)", r"\1 ", fold(text)))
    bare = read_clock(folded)
    clock = (bare, "") if bare is not None else find_clock(folded)
    if clock is None:
        return None
    at, rest = clock
    rest = re.sub(r"\b(?:at|um|in the|the|alarm|wake me( up)?)\b", "", rest).strip()
    if repeat:
        return Alarm(next_on(now, at, repeat), repeat) if not rest or LATER.fullmatch(rest) else None
    if not rest or _is_part(rest):
        moment = datetime.combine(now.date(), at)
        return Alarm(moment if moment > now else moment + timedelta(days=1))
    stretch = read_days(rest, now)
    if stretch is None or stretch.start.date() != stretch.last:
        return None
    return _on_day(stretch.start.date(), at, rest, now)


def _on_day(day: date, at: time, rest: str, now: datetime) -> Alarm | None:
    """A weekday that is today and whose time is over means the one in a week; a date that is over, none."""
    moment = datetime.combine(day, at)
    if moment <= now and day == now.date() and any(word in WEEKDAY for word in rest.split()):
        moment += timedelta(days=7)
    return Alarm(moment) if moment > now else None


def _is_part(rest: str) -> bool:
    return all(LATER.fullmatch(word) or word in ("morning", "morgens", "fruh", "in") for word in rest.split())


def _without_repeat(folded: str) -> tuple[str, frozenset[int]]:
    """The text without the words that make it come again, and the weekdays they name."""
    for pattern, days in _REPEATS:
        if found := re.search(pattern, folded):
            kept = " ".join(word for word in found[0].split() if LATER.fullmatch(word) or word == "abend")
            return f"{without(folded, found)} {kept}".strip(), days
    if not (every := re.search(r"\b(?:every|each|jeden|jede|cada)\b", folded)):
        return folded, frozenset()
    rest = without(folded, every).split()
    days = frozenset(WEEKDAY[word] for word in rest if word in WEEKDAY)
    return " ".join(word for word in rest if word not in WEEKDAY and word not in ("and", "und")), days


def next_on(now: datetime, at: time, repeat: frozenset[int]) -> datetime:
    """The first moment after `now` at that time on one of the weekdays."""
    for ahead in range(8):
        moment = datetime.combine(now.date() + timedelta(days=ahead), at)
        if moment > now and moment.weekday() in repeat:
            return moment
    raise ValueError("there are no weekdays to ring on")
