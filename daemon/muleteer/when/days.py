"""Days as people name them: "Friday afternoon", "next week", "24.12.", "morgen früh".

Knows the calendar on the wall. Does not know appointments, zones or what time it is.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from muleteer.sentences import say
from muleteer.when.clocks import find_clock
from muleteer.when.words import (
    FILLERS,
    LAST,
    MONTH,
    NEXT,
    PART,
    PART_NAMES,
    RELATIVE,
    THIS,
    WEEKDAY,
    fold,
    in_digits,
    listed,
)

LONGEST_PHRASE = 6  # words that name days together: "from the 3rd to the 5th"
SOON_DAYS = 7  # what "upcoming" and the like mean
LONGEST_DAYS = 366  # of a stretch; no calendar question is about more
DAY = timedelta(days=1)

_WEEK = listed("week woche semana semaine settimana")
_WEEKEND = listed("weekend wochenende fin finde")
_MONTH = listed("month monat mes mois mese maand")
_SOON = listed("soon upcoming next bald all alle alles everything any anytime demnachst pronto")
_RANGE = re.compile(r" (?:to|until|till|through|bis|and|und|hasta|a) | - |\.\.+|(?<=\d{4}-\d\d-\d\d)/")
_PARTED = re.compile(rf"\b({'|'.join(sorted(WEEKDAY, key=len, reverse=True))})({'|'.join(PART)})\b")
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th|\.)?"


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `start` until `end` (not included), wall-clock time."""

    start: datetime
    end: datetime

    @property
    def last(self) -> date:
        """The last day that the stretch touches."""
        return (self.end - timedelta(microseconds=1)).date()

    @property
    def whole(self) -> bool:
        """Whether it is made of whole days."""
        return self.start.time() == self.end.time() == time()

    def words(self, today: date) -> str:
        """How to say it in a sentence: "today", "on Friday afternoon, 4 December"."""
        first, last = self.start.date(), self.last
        if first != last:
            return say("from {first} to {last}", first=say_day(first, today), last=say_day(last, today))
        hours = (self.start.hour, self.end.hour or 24)
        name = PART_NAMES.get(hours, "") if self.start.minute == self.end.minute == 0 else ""
        near = {0: "today", 1: "tomorrow", -1: "yesterday"}.get((first - today).days)
        day = say(near) if near else say("on {day}", day=say_day(first, today))
        if self.whole:
            return day
        if not name:
            begin, end = f"{self.start:%H:%M}", f"{self.end:%H:%M}"
            return say("{day} from {begin} to {end}", day=day, begin=begin, end=end)
        if near:
            return say({"today": f"this {name}"}.get(near, f"{near} {name}"))
        weekday, month = say(f"{first:%A}"), say(f"{first:%B}")
        pattern = "on {weekday} {part}, {day} {month}" + (" {year}" if first.year != today.year else "")
        return say(pattern, weekday=weekday, part=say(name), day=first.day, month=month, year=first.year)


def say_day(day: date, today: date) -> str:
    """ "Friday, 4 December", with the year where it is another one than today's."""
    weekday, month = say(f"{day:%A}"), say(f"{day:%B}")
    if day.year == today.year:
        return say("{weekday}, {day} {month}", weekday=weekday, day=day.day, month=month)
    return say("{weekday}, {day} {month} {year}", weekday=weekday, day=day.day, month=month, year=day.year)


def read_days(text: str, now: datetime) -> Stretch | None:
    """The stretch of time that the words name, or None. Weekdays and dates without a year are the next ones,
    today included; weeks begin on Monday. `now` is naive local time."""
    try:
        return _read(fold(text), now)
    except (ValueError, OverflowError):  # the 31st of June, the year 10000
        return None


def find_days(text: str, now: datetime) -> Stretch | None:
    """Like `read_days`, for words that may say more than that: the longest part of them that names days."""
    if whole := read_days(text, now):
        return whole
    words = fold(text).split()
    for length in range(min(LONGEST_PHRASE, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            part = words[start : start + length]
            if (
                part[0] not in FILLERS
                and any(map(_is_sure, part))
                and (found := read_days(" ".join(part), now))
            ):
                return found
    return None


def _is_sure(word: str) -> bool:
    """Whether a word can hardly mean anything else than a day; "do" and "may" can."""
    if any(sign.isdigit() for sign in word):
        return re.search(r"\d[./-]\d", word) is not None
    return len(word) > 3 and any(word in words for words in (WEEKDAY, MONTH, RELATIVE, PART, _WEEK, _WEEKEND))


def _read(folded: str, now: datetime) -> Stretch | None:
    whole = _one(folded, now)
    if whole or not (border := _RANGE.search(folded)):
        return whole
    before = re.sub(r"^(?:from|between|von|vom|zwischen|de|desde) ", "", folded[: border.start()])
    first, last = _one(before, now), _one(folded[border.end() :], now)
    if not first or not last:
        return None
    if last.end <= first.start:  # "Friday to Monday" on a Saturday
        last = _one(folded[border.end() :], first.start) or last
    if not first.start < last.end <= first.start + LONGEST_DAYS * DAY:
        return None
    return Stretch(first.start, last.end)


def _one(folded: str, now: datetime) -> Stretch | None:
    """What no "to" divides: days, and a part of the day or a time."""
    if found := re.fullmatch(r"(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d)(?::\d\d\S*)?", folded):
        start = datetime.fromisoformat(f"{found[1]}T{found[2]}")
        return Stretch(start, start + timedelta(hours=1))
    tokens, hours = _without_part(_PARTED.sub(r"\1 \2", folded).split())
    if hours is None and (clock := find_clock(" ".join(tokens))):
        at, rest = clock
        days = _days(rest.split(), now.date())
        if days and days[0] == days[1]:
            start = datetime.combine(days[0], at)
            return Stretch(start, start + timedelta(hours=1))
    days = _days(tokens, now.date())
    if days is None or (hours is None and all(word in FILLERS for word in tokens)):
        return None
    first, last = days
    begin, end = hours or (0, 24)
    return Stretch(_at(first, begin), _at(last, end))


def _at(day: date, hour: int) -> datetime:
    return datetime.combine(day, time()) + timedelta(hours=hour)


def _without_part(tokens: list[str]) -> tuple[list[str], tuple[int, int] | None]:
    """The tokens that name no part of a day, and the hours of the part that the others name. "Morgen" is the
    morning after a day and tomorrow else."""
    hours, left = None, list[str]()
    for position, word in enumerate(tokens):
        before = tokens[position - 1] if position else ""
        after_day = before in WEEKDAY or before in ("heute", "gestern")
        if word == "morgen" and after_day:
            hours = (6, 12)
        elif word in PART:
            hours = PART[word]
        else:
            left.append(word)
    return left, hours


def _days(tokens: list[str], today: date) -> tuple[date, date] | None:
    """First and last day; today for nothing but filling words."""
    words = [token for token in tokens if token not in FILLERS]
    text = in_digits(" ".join(words))
    for read in (_named, _dated, _counted, _monthly):
        if days := read(text, today):
            return days
    return None


def _named(text: str, today: date) -> tuple[date, date] | None:
    """Today, tomorrow, weekdays, weeks, weekends, and "soon"."""
    words = text.split()
    if not words:
        return today, today
    if words in (["after", "tomorrow"], ["1", "after", "tomorrow"]):
        return today + 2 * DAY, today + 2 * DAY
    if words == ["pasado", "manana"]:
        return today + 2 * DAY, today + 2 * DAY
    if words == ["before", "yesterday"]:
        return today - 2 * DAY, today - 2 * DAY
    if all(word in RELATIVE for word in words) and len(words) == 1:
        day = today + RELATIVE[words[0]] * DAY
        return day, day
    if words[0] in _SOON and words[1:] in ([], ["days"], ["tage"], ["events"], ["termine"]):
        return today, today + (SOON_DAYS - 1) * DAY
    step = 1 if words[0] in NEXT else -1 if words[0] in LAST else 0
    if step or words[0] in THIS:
        words = words[1:]
    if not words:  # "this afternoon"
        return None if step else (today, today)
    return _in_week(words, today, step)


def _in_week(words: list[str], today: date, step: int) -> tuple[date, date] | None:
    """A weekday, week, weekend or month; `step` is 1 for the next, -1 for the last one."""
    monday = today - today.weekday() * DAY
    if len(words) == 2 and words[1] in WEEKDAY and words[0] in RELATIVE:  # "tomorrow, Friday"
        words = words[:1]
        return _named(words[0], today)
    if len(words) == 2 and words[0] in WEEKDAY and words[1] in _WEEK | NEXT:
        words = words[:1]  # "Friday week", "viernes next"
        step = 1
    if len(words) != 1:
        return None
    word = words[0]
    if word in WEEKDAY:
        ahead = (WEEKDAY[word] - today.weekday()) % 7
        if step > 0:
            day = monday + (7 + WEEKDAY[word]) * DAY
        elif step < 0:
            day = today + ((ahead - 7) if ahead else -7) * DAY
        else:
            day = today + ahead * DAY
        return day, day
    if word in _WEEK:
        return (monday + 7 * step * DAY, monday + (7 * step + 6) * DAY) if step else (today, monday + 6 * DAY)
    if word in _WEEKEND:
        saturday = monday + (5 + 7 * step) * DAY
        return max(saturday, today) if not step else saturday, saturday + DAY
    if word in _MONTH:
        number = today.year * 12 + today.month - 1 + step
        first, last = _month(number // 12, number % 12 + 1)
        return (first if step else today), last
    return None


def _dated(text: str, today: date) -> tuple[date, date] | None:
    """A date in digits or with the month's name; the next one where no year is said."""
    text = text.removesuffix(" uhr")
    words = text.split()
    if len(words) > 1 and words[0] in WEEKDAY:  # "Friday, 4 December": the date decides
        text = " ".join(words[1:])
    if found := re.fullmatch(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", text):
        year, month, day = int(found[1]), int(found[2]), int(found[3])
        return date(year, month, day), date(year, month, day)
    if found := re.fullmatch(r"(\d{1,2})([./-])\s*(\d{1,2})(?:\2?\s*(\d{4}|\d\d))?\.?", text):
        day, month = int(found[1]), int(found[3])
        if month > 12 >= day:  # 12/24 as in the United States
            day, month = month, day
        return _on(day, month, found[4], today)
    if found := re.fullmatch(rf"{_ORDINAL} ([a-z]+)(?: (\d{{4}}))?", text):
        return _on(int(found[1]), MONTH[found[2]], found[3], today) if found[2] in MONTH else None
    if found := re.fullmatch(rf"([a-z]+) {_ORDINAL}(?: (\d{{4}}))?", text):
        return _on(int(found[2]), MONTH[found[1]], found[3], today) if found[1] in MONTH else None
    if found := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.)", text):
        return _next_numbered(int(found[1]), today)
    return None


def _on(day: int, month: int, year: str | None, today: date) -> tuple[date, date]:
    """Raises `ValueError` for a date that there is not."""
    if year:
        number = int(year) + (2000 if len(year) == 2 else 0)
        return date(number, month, day), date(number, month, day)
    for number in range(today.year, today.year + 9):  # eight years from one 29 February to the next at most
        if day <= calendar.monthrange(number, month)[1] and (found := date(number, month, day)) >= today:
            return found, found
    raise ValueError(f"no day {day} in month {month}")


def _next_numbered(day: int, today: date) -> tuple[date, date] | None:
    for ahead in range(62):  # two months hold every number
        if (found := today + ahead * DAY).day == day:
            return found, found
    return None


def _counted(text: str, today: date) -> tuple[date, date] | None:
    """ "in 3 days", "next 2 weeks", "5 days ago", "vor 3 tagen"."""
    text = re.sub(r"^in ", "", text)
    units = {
        "day": 1,
        "days": 1,
        "tage": 1,
        "tagen": 1,
        "tag": 1,
        "dias": 1,
        "jours": 1,
        "week": 7,
        "weeks": 7,
    }
    units |= {"woche": 7, "wochen": 7, "semanas": 7, "semaines": 7}
    if (
        not (found := re.fullmatch(r"(?:([a-z]+) )?(\d{1,3}) ([a-z]+)(?: (ago))?", text))
        or found[3] not in units
    ):
        return None
    days = int(found[2]) * units[found[3]]
    lead = found[1] or ""
    if lead in NEXT | THIS | {"within"} and 0 < days <= LONGEST_DAYS:
        return today, today + (days - 1) * DAY
    if lead in LAST and 0 < days <= LONGEST_DAYS:
        return today - days * DAY, today - DAY
    if found[4] or lead == "vor":
        return today - days * DAY, today - days * DAY
    return None if lead else (today + days * DAY, today + days * DAY)


def _monthly(text: str, today: date) -> tuple[date, date] | None:
    """A month by its name, the current or next one of it where no year is said."""
    found = re.fullmatch(r"([a-z]+)(?: (\d{4}))?", text)
    if not found or found[1] not in MONTH:
        return None
    month = MONTH[found[1]]
    year = int(found[2]) if found[2] else today.year + (month < today.month)
    first, last = _month(year, month)
    return (first if found[2] else max(first, today)), last


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
