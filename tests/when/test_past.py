"""Times that are over; today is Monday, 30 November 2026, 9:00."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.when.past import read_past

NOW = datetime(2026, 11, 30, 9)


def day(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


@pytest.mark.parametrize(
    ("words", "since", "until"),
    [
        ("today", "2026-11-30", "2026-12-01"),
        ("this morning", "2026-11-30T06:00", "2026-11-30T12:00"),
        ("yesterday evening", "2026-11-29T18:00", "2026-11-30"),
        ("last week", "2026-11-23", "2026-11-30"),
        ("letzte Woche", "2026-11-23", "2026-11-30"),
        ("Friday", "2026-11-27", "2026-11-28"),
        ("on Monday", "2026-11-30", "2026-12-01"),
        ("last Monday", "2026-11-23", "2026-11-24"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("May 2025", "2025-05-01", "2025-06-01"),
        ("December", "2025-12-01", "2026-01-01"),
        ("November", "2026-11-01", "2026-12-01"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("24 December", "2025-12-24", "2025-12-25"),
        ("vor 3 Tagen", "2026-11-27", "2026-11-28"),
        ("2 months ago", "2026-10-01", "2026-11-30T09:00"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("2024", "2024-01-01", "2025-01-01"),
        ("from May to June", "2026-05-01", "2026-07-01"),
        ("2026-05-31", "2026-05-31", "2026-06-01"),
        ("since Monday", "2026-11-30", ""),
        ("seit letzter Woche", "2026-11-23", ""),
        ("until 3 May", "", "2026-05-04"),
        ("before May", "", "2026-05-01"),
    ],
)
def test_words_for_what_is_over(words: str, since: str, until: str) -> None:
    assert read_past(words, NOW) == (day(since), day(until))


@pytest.mark.parametrize("words", ["", "banana", "tomorrow", "in 3 days", "since", "31 June", "in 99 days"])
def test_what_names_no_time_that_is_over(words: str) -> None:
    assert read_past(words, NOW) is None


@given(st.text(max_size=60), st.datetimes(datetime(1, 2, 1), datetime(9990, 1, 1)))
def test_any_words_on_any_day(words: str, now: datetime) -> None:
    span = read_past(words, now)
    assert span is None or span[0] is None or span[0].date() <= now.date()
