"""Times that are over, as people name them: "last week", "since Monday", "in May", "vor 3 Tagen".

Knows that what is asked about has been, so a weekday, a month or a date without a year is the last one.
"""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

from muleteer.when.days import Stretch, read_days
from muleteer.when.words import fold

DAY = timedelta(days=1)
_OPENING = re.compile(
    r"^(?:(?P<since>since|after|seit|ab|desde|depuis|dal|sinds)|(?P<until>until|till|up to|bis|hasta|tot)"
    r"|(?P<before>before|vor dem|antes de|avant|prima di|voor)) (?P<rest>.+)"
)
_LONG_AGO = re.compile(
    r"(?:vor |hace |(?:the )?(?:last|past) )?(?P<count>\d{1,3}|an?|one|eine?[mnr]?|un) "
    r"(?P<unit>month|monat|mes|year|jahr|ano)\w*(?: ago)?"
)
_YEAR = re.compile(
    r"(?:in |im jahr |en )?(?:(?P<number>\d{4})|(?P<which>last|this|letzte[sn]|diese[sm]) (?:year|jahr))"
)
_UNITS = {"month": 30, "monat": 30, "mes": 30, "year": 365, "jahr": 365, "ano": 365}  # days


def read_past(text: str, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """From when and until when (not included); None is an open end. None for words that name no time, or
    only one to come. `now` is naive local time."""
    try:
        return _read(fold(text), now)
    except (ValueError, OverflowError):  # before the year 1
        return None


def _read(folded: str, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    opening = _OPENING.match(folded)
    stretch = _stretch(opening["rest"] if opening else folded, now)
    if stretch is None:
        return None
    if opening is None:
        return stretch.start, stretch.end
    if opening["since"]:
        return stretch.start, None
    return None, stretch.end if opening["until"] else stretch.start


def _stretch(folded: str, now: datetime) -> Stretch | None:
    if found := _LONG_AGO.fullmatch(folded):
        count = int(found["count"]) if found["count"].isdecimal() else 1
        return Stretch(datetime.combine(now - count * _UNITS[found["unit"]] * DAY, time()), now)
    if found := _YEAR.fullmatch(folded):
        last = (found["which"] or "").startswith(("last", "letzt"))
        year = int(found["number"] or now.year - last)
        return Stretch(datetime(year, 1, 1), datetime(year + 1, 1, 1))
    today = now.date()
    ahead = read_days(folded, now)
    if ahead is None or ahead.start.date() < today:
        return ahead
    if ahead.start.date() == today:
        return _begun(folded, now, ahead)
    if _shifted(folded, now, ahead, 8):
        return None  # "tomorrow" and "in 3 days" will always be to come
    readings = (read_days(folded, now - days * DAY) for days in (7, 366))
    return next((each for each in readings if each and each.start <= now), None)


def _begun(folded: str, now: datetime, rest: Stretch) -> Stretch:
    """The whole of the week or month of which the rest is still to come."""
    seen = (read_days(folded, now - days * DAY) for days in (now.weekday(), now.day - 1))
    whole = [each for each in seen if each and each.end == rest.end]
    return min((rest, *whole), key=lambda each: each.start)


def _shifted(folded: str, now: datetime, ahead: Stretch, days: int) -> bool:
    """Whether the words mean a day that keeps its distance from the one they are said on."""
    earlier = read_days(folded, now - days * DAY)
    return earlier is not None and earlier.start == ahead.start - days * DAY
