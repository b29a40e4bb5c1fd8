"""Days as people say them, on a Monday morning; and what holds for any words on any day."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.when import Stretch, find_days, read_days, say_day
from muleteer.when.words import MONTH, RELATIVE, WEEKDAY, listed

NOW = datetime(2026, 11, 30, 8, 0)  # a Monday
NOWS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1))


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("today", "11-30", "11-30"),
        ("heute", "11-30", "11-30"),
        ("Tomorrow!", "12-01", "12-01"),
        ("morgen", "12-01", "12-01"),
        ("pasado mañana", "12-02", "12-02"),
        ("the day after tomorrow", "12-02", "12-02"),
        ("übermorgen", "12-02", "12-02"),
        ("Monday", "11-30", "11-30"),
        ("on Friday", "12-04", "12-04"),
        ("am Freitag", "12-04", "12-04"),
        ("le vendredi", "12-04", "12-04"),
        ("this Friday", "12-04", "12-04"),
        ("next Friday", "12-11", "12-11"),
        ("letzten Montag", "11-23", "11-23"),
        ("this week", "11-30", "12-06"),
        ("nächste Woche", "12-07", "12-13"),
        ("last week", "11-23", "11-29"),
        ("at the weekend", "12-05", "12-06"),
        ("next weekend", "12-12", "12-13"),
        ("next month", "12-01", "12-31"),
        ("December", "12-01", "12-31"),
        ("2026-12-24", "12-24", "12-24"),
        ("24.12.", "12-24", "12-24"),
        ("24.12.2026", "12-24", "12-24"),
        ("24/12/26", "12-24", "12-24"),
        ("12/24", "12-24", "12-24"),
        ("Dec 24th", "12-24", "12-24"),
        ("24. Dezember", "12-24", "12-24"),
        ("Thursday, 24 December", "12-24", "12-24"),
        ("the 24th", "12-24", "12-24"),
        ("in 3 days", "12-03", "12-03"),
        ("in two weeks", "12-14", "12-14"),
        ("next ten days", "11-30", "12-09"),
        ("last 2 days", "11-28", "11-29"),
        ("vor 3 Tagen", "11-27", "11-27"),
        ("5 days ago", "11-25", "11-25"),
        ("von Montag bis Mittwoch", "11-30", "12-02"),
        ("between Friday and Sunday", "12-04", "12-06"),
        ("2026-12-01 to 2026-12-05", "12-01", "12-05"),
        ("2026-12-01/2026-12-05", "12-01", "12-05"),
        ("upcoming", "11-30", "12-06"),
    ],
)
def test_whole_days(words: str, first: str, last: str) -> None:
    found = read_days(words, NOW)
    assert found is not None
    assert found.whole
    assert (f"{found.start:%m-%d}", f"{found.last:%m-%d}") == (first, last)


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("Friday afternoon", "12-04 12", "12-04 18"),
        ("Freitagnachmittag", "12-04 12", "12-04 18"),
        ("am Freitag Morgen", "12-04 06", "12-04 12"),
        ("morgen früh", "12-01 06", "12-01 12"),
        ("tomorrow morning", "12-01 06", "12-01 12"),
        ("this afternoon", "11-30 12", "11-30 18"),
        ("tonight", "11-30 18", "12-01 00"),
        ("heute Abend", "11-30 18", "12-01 00"),
        ("Friday at 3pm", "12-04 15", "12-04 16"),
        ("morgen um 14 Uhr", "12-01 14", "12-01 15"),
        ("2026-12-24T10:00", "12-24 10", "12-24 11"),
    ],
)
def test_a_part_of_a_day(words: str, start: str, end: str) -> None:
    found = read_days(words, NOW)
    assert found is not None
    assert (f"{found.start:%m-%d %H}", f"{found.end:%m-%d %H}") == (start, end)


@pytest.mark.parametrize(
    "words", ["", "the day", "on", "the dentist", "31.6.", "99.99.", "in 4000 weeks to 5", "32nd", "0.0."]
)
def test_what_is_no_day(words: str) -> None:
    assert read_days(words, NOW) is None


@pytest.mark.parametrize(
    ("words", "like"),
    [
        ("am I free on Friday afternoon?", "friday afternoon"),
        ("was habe ich nächste Woche vor", "next week"),
        ("do I have anything from Friday to Sunday", "friday to sunday"),
        ("the dentist on 24.12.", "24.12."),
        ("tomorrow", "tomorrow"),
    ],
)
def test_days_are_found_among_other_words(words: str, like: str) -> None:
    found = find_days(words, NOW)
    assert found is not None
    assert found == read_days(like, NOW)


@pytest.mark.parametrize("words", ["", "do I have any", "the dentist", "may I go", "room 12", "mi casa"])
def test_no_days_are_found_where_there_are_none(words: str) -> None:
    assert find_days(words, NOW) is None


def test_a_leap_day_is_the_next_one_there_is() -> None:
    found = read_days("29.2.", NOW)
    assert found is not None
    assert found.start == datetime(2028, 2, 29)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("today", "today"),
        ("tomorrow", "tomorrow"),
        ("Friday", "on Friday, 4 December"),
        ("Friday afternoon", "on Friday afternoon, 4 December"),
        ("this afternoon", "this afternoon"),
        ("tomorrow morning", "tomorrow morning"),
        ("next week", "from Monday, 7 December to Sunday, 13 December"),
        ("tomorrow 14:00", "tomorrow from 14:00 to 15:00"),
        ("1.1.", "on Friday, 1 January 2027"),
    ],
)
def test_it_is_said_with_the_date(words: str, said: str) -> None:
    found = read_days(words, NOW)
    assert found is not None
    assert found.words(NOW.date()) == said


OTHER = listed(
    "next last this week month in ago to bis - at 3 12 31 24.12. 2026-12-24 14:00 pm morning half days"
)
VOCABULARY = sorted(OTHER | WEEKDAY.keys() | MONTH.keys() | RELATIVE.keys())


@given(st.lists(st.sampled_from(VOCABULARY), max_size=7).map(" ".join) | st.text(max_size=300), NOWS)
def test_any_words_give_an_ordered_stretch_or_none(words: str, now: datetime) -> None:
    found = read_days(words, now)
    if found is not None:
        assert timedelta(0) < found.end - found.start <= timedelta(days=367)
        assert found.start.tzinfo is None
        assert found.words(now.date())


@given(st.sampled_from(sorted(WEEKDAY)), NOWS)
def test_a_weekday_is_the_next_one_today_included(word: str, now: datetime) -> None:
    found = read_days(word, now)
    assert found is not None
    assert found.start.weekday() == WEEKDAY[word]
    assert 0 <= (found.start.date() - now.date()).days < 7


@given(st.dates(date(1970, 1, 1), date(2200, 1, 1)), NOWS)
def test_a_date_with_its_year_is_that_date(day: date, now: datetime) -> None:
    expected = Stretch(
        datetime.combine(day, datetime.min.time()), datetime.combine(day, datetime.min.time()) + timedelta(1)
    )
    for words in (
        f"{day}",
        f"{day:%d.%m.%Y}",
        f"{day:%d/%m/%Y}",
        f"{day:%B} {day.day} {day.year}",
        f"{say_day(day, date(1, 1, 1))}",
    ):
        assert read_days(words, now) == expected, words
