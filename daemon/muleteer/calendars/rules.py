"""Which repetition rules may be followed: python-dateutil goes on to the year 9999, or forever, for some."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import Any

# Steps from a series' beginning to the days asked about: hourly for five years. Each is a little work, and a
# rule that repeats every second since 1970 would never be through.
MOST_STEPS = 50_000
STEP_SECONDS = {"SECONDLY": 1, "MINUTELY": 60, "HOURLY": 3600}
DAY_SECONDS = 86_400
MULTIPLYING = ("BYHOUR", "BYMINUTE", "BYSECOND")
DAYS_IN = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class DamagedError(ValueError):
    """An event that cannot be understood, or not followed."""


def check_rule(rule: Any, start: datetime, until: datetime) -> None:
    """`rule` is an RRULE as icalendar has it. Raises `DamagedError` for one that is impossible or takes too
    many steps from `start` to `until`."""
    interval = _first(rule, "INTERVAL", 1)
    if interval < 1 or not _has_days(rule):
        raise DamagedError("it repeats on days that there are not")
    step = STEP_SECONDS.get(str(rule.get("FREQ", [""])[0]).upper(), DAY_SECONDS) * interval
    steps = min((until - start).total_seconds() / step, _first(rule, "COUNT", MOST_STEPS * DAY_SECONDS))
    for part in MULTIPLYING:
        steps *= max(1, len(rule.get(part, [])))
    if steps > MOST_STEPS:
        raise DamagedError("it repeats too often")


def _first(rule: Any, name: str, default: int) -> int:
    given = rule.get(name, [default])
    return int(given[0] if isinstance(given, list) else given)


def _has_days(rule: Any) -> bool:
    """Whether some year has a day that the rule's months and days of months and years meet."""
    months = [int(month) for month in rule.get("BYMONTH", range(1, 13))]
    days = [abs(int(day)) for day in rule.get("BYMONTHDAY", [1])]
    in_month = any(
        1 <= month <= 12 and 1 <= day <= DAYS_IN[month - 1] for month, day in product(months, days)
    )
    return in_month and any(1 <= abs(int(day)) <= 366 for day in rule.get("BYYEARDAY", [1]))
