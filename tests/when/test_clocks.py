"""Spans, times of day and alarms, as people say them."""

from __future__ import annotations

from datetime import datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.when import next_on, read_alarm, read_clock, read_delay, say_delay
from muleteer.when.words import listed

NOW = datetime(2026, 11, 30, 8, 0)  # a Monday
NOWS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1))


@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ("10 min", 10),
        ("ten minutes", 10),
        ("in 10 minutes", 10),
        ("10", 10),
        ("1h30", 90),
        ("1h 30m", 90),
        ("PT1H30M", 90),
        ("an hour and a half", 90),
        ("anderthalb Stunden", 90),
        ("1,5 Stunden", 90),
        ("2 and a half hours", 150),
        ("zweieinhalb Stunden", 150),
        ("90 seconds", 1.5),
        ("half a minute", 0.5),
        ("half an hour", 30),
        ("eine halbe Stunde", 30),
        ("a quarter of an hour", 15),
        ("eine Viertelstunde", 15),
        ("three quarters of an hour", 45),
        ("twenty five minutes", 25),
        ("fünfundzwanzig Minuten", 25),
        ("2 hours and 15 min", 135),
        ("3 days", 4320),
        ("0 min", 0),
    ],
)
def test_spans(words: str, minutes: float) -> None:
    assert read_delay(words) == timedelta(minutes=minutes)


@pytest.mark.parametrize("words", ["", "tea", "600", "10 potatoes", "7:30", "tomorrow", "9" * 400 + " hours"])
def test_what_is_no_span(words: str) -> None:
    assert read_delay(words) is None


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("7:30", "07:30"),
        ("7.30 Uhr", "07:30"),
        ("7 Uhr 30", "07:30"),
        ("0730", "07:30"),
        ("7", "07:00"),
        ("6 am", "06:00"),
        ("6:15 p.m.", "18:15"),
        ("12 am", "00:00"),
        ("12 pm", "12:00"),
        ("8 in the evening", "20:00"),
        ("half past seven", "07:30"),
        ("halb acht", "07:30"),
        ("quarter to eight", "07:45"),
        ("Viertel nach sieben", "07:15"),
        ("ten past six", "06:10"),
        ("noon", "12:00"),
        ("Mitternacht", "00:00"),
    ],
)
def test_times_of_day(words: str, at: str) -> None:
    assert read_clock(words) == time.fromisoformat(at)


@pytest.mark.parametrize("words", ["", "25:00", "7:99", "13 pm", "soon", "7:30 on Mars"])
def test_what_is_no_time_of_day(words: str) -> None:
    assert read_clock(words) is None


@pytest.mark.parametrize(
    ("words", "at", "repeat"),
    [
        ("7:30", "12-01 07:30", ""),
        ("9:30", "11-30 09:30", ""),
        ("tomorrow 6 am", "12-01 06:00", ""),
        ("6am tomorrow", "12-01 06:00", ""),
        ("morgen um 7", "12-01 07:00", ""),
        ("morgen früh um sechs", "12-01 06:00", ""),
        ("tonight at 9", "11-30 21:00", ""),
        ("Monday 7:00", "12-07 07:00", ""),
        ("at 8 on Friday", "12-04 08:00", ""),
        ("2026-12-24T18:00", "12-24 18:00", ""),
        ("24.12. 18:00", "12-24 18:00", ""),
        ("weekdays 6:30", "12-01 06:30", "01234"),
        ("werktags um halb sieben", "12-01 06:30", "01234"),
        ("Mo-Fr 6:45", "12-01 06:45", "01234"),
        ("every day at 9", "11-30 09:00", "0123456"),
        ("täglich 22:00", "11-30 22:00", "0123456"),
        ("every Monday and Thursday at 8:00", "12-03 08:00", "03"),
        ("jeden Montag um acht", "12-07 08:00", "0"),
        ("weekends 9:30", "12-05 09:30", "56"),
    ],
)
def test_alarms(words: str, at: str, repeat: str) -> None:
    found = read_alarm(words, NOW)
    assert found is not None
    assert (f"{found.at:%m-%d %H:%M}", "".join(map(str, sorted(found.repeat)))) == (at, repeat)


@pytest.mark.parametrize(
    "words", ["", "tomorrow", "7:30 yesterday", "24.12.2020 18:00", "every blue moon 7:00"]
)
def test_what_is_no_alarm(words: str) -> None:
    assert read_alarm(words, NOW) is None


VOCABULARY = sorted(
    listed(
        "7 7:30 at um am pm half past halb quarter to every jeden day monday fr tomorrow morgen noon 24.12."
    )
)


@given(st.lists(st.sampled_from(VOCABULARY), max_size=7).map(" ".join) | st.text(max_size=300), NOWS)
def test_an_alarm_is_in_the_future_or_none(words: str, now: datetime) -> None:
    read_delay(words)
    found = read_alarm(words, now)
    if found is not None:
        assert now < found.at
        assert not found.repeat or found.at.weekday() in found.repeat


@given(st.times(), NOWS)
def test_hours_and_minutes_are_the_next_ones(at: time, now: datetime) -> None:
    found = read_alarm(f"{at:%H:%M}", now)
    assert found is not None
    assert (found.at.hour, found.at.minute) == (at.hour, at.minute)
    assert timedelta(0) < found.at - now <= timedelta(days=1)


@given(NOWS, st.times(), st.frozensets(st.integers(0, 6), min_size=1))
def test_the_next_one_is_within_a_week(now: datetime, at: time, repeat: frozenset[int]) -> None:
    moment = next_on(now, at, repeat)
    assert now < moment <= now + timedelta(days=8)
    assert moment.weekday() in repeat


@given(st.integers(1, 86_400 * 60))
def test_what_is_said_is_read_back(seconds: int) -> None:
    said = say_delay(timedelta(seconds=seconds))
    read = read_delay(said)
    assert read is not None
    smaller = 60 if "day" not in said else 3600
    assert 0 <= seconds - read.total_seconds() < smaller


@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        ("over tien minuten", 10),
        ("vijfentwintig minuten", 25),
        ("een kwartier", 15),
        ("drie kwartier", 45),
        ("anderhalf uur", 90),
        ("een half uur", 30),
        ("twee uur", 120),
        ("tra dieci minuti", 10),
        ("ventuno minuti", 21),
        ("mezz'ora", 30),
        ("un'ora e mezza", 90),
        ("un'ora", 60),
        ("un quarto d'ora", 15),
        ("tre quarti d'ora", 45),
        ("on dakika", 10),
        ("on beş dakikaya", 15),
        ("yirmi beş dakikalık", 25),
        ("yarım saat sonra", 30),
        ("bir buçuk saat", 90),
        ("iki saat", 120),
        ("una hora y media", 90),
        ("une heure et demie", 90),
        ("vinte minutos", 20),
    ],
)
def test_spans_in_other_languages_words(said: str, minutes: int) -> None:
    assert read_delay(said) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("half zeven", time(6, 30)),
        ("om half zeven", time(6, 30)),
        ("om kwart over zeven", time(7, 15)),
        ("kwart voor acht", time(7, 45)),
        ("tien over zeven", time(7, 10)),
        ("vijf voor acht", time(7, 55)),
        ("om zeven uur", time(7)),
        ("om zeven uur 's avonds", time(19)),
        ("alle sette e mezza", time(7, 30)),
        ("alle sette e un quarto", time(7, 15)),
        ("alle otto meno un quarto", time(7, 45)),
        ("alle otto meno dieci", time(7, 50)),
        ("alle sette e dieci", time(7, 10)),
        ("a mezzogiorno", time(12)),
        ("saat yedide", time(7)),
        ("saat 7'de", time(7)),
        ("yedi buçukta", time(7, 30)),
        ("yediye çeyrek kala", time(6, 45)),
        ("yediyi çeyrek geçe", time(7, 15)),
        ("yediye on kala", time(6, 50)),
        ("half past seven", time(7, 30)),
        ("at 7 am", time(7)),
    ],
)
def test_times_of_day_in_other_languages_words(said: str, at: time) -> None:
    alarm = read_alarm(said, NOW)
    assert alarm is not None
    assert alarm.at.time() == at


@pytest.mark.parametrize("said", ["on monday", "on and on", "over there", "om", "on bes yedi", "saat"])
def test_such_words_alone_are_no_time(said: str) -> None:
    assert read_delay(said) is None
    assert read_alarm(said, NOW) is None
