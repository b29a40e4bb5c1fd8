"""What rings when, on clocks that are set, that sleep and that start again. In Berlin, where they change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muleteer import timers
from muleteer.timers import Moment, Timer, adopted, countdown, left, ringing, was_set_back
from muleteer.when import next_on

DAY = 86_400.0


@pytest.fixture(autouse=True, scope="module")
def _berlin() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


def at(local: str, uptime: float = 1000.0, boot: str = "b1") -> Moment:
    return Moment(datetime.fromisoformat(local).timestamp(), uptime, boot)


NOW = Moment(datetime(2026, 11, 30, 7, tzinfo=UTC).timestamp(), 1000.0, "b1")  # 8:00 in Berlin


def later(now: Moment, seconds: float, wall: float | None = None) -> Moment:
    """Seconds pass; the wall clock is set meanwhile if `wall` is another number."""
    return replace(now, wall=now.wall + (seconds if wall is None else wall), uptime=now.uptime + seconds)


def test_a_countdown_rings_once_at_its_end() -> None:
    timer = countdown("tea", 300, NOW)
    assert ringing([timer], later(NOW, 299.9)) == []
    (rings,) = ringing([timer], later(NOW, 300))
    assert (rings.timer, rings.after, rings.missed) == (timer, None, False)


@pytest.mark.parametrize("jump", [-DAY, -3600, 3600, 50 * DAY])
def test_setting_the_clock_does_not_touch_a_countdown(jump: float) -> None:
    timer = countdown("tea", 300, NOW)
    assert left(timer, later(NOW, 100, wall=100 + jump)) == pytest.approx(200)
    shown = timers.due_time(timer, later(NOW, 100, wall=100 + jump))
    assert shown == datetime.fromtimestamp(NOW.wall + 300 + jump)


def test_a_suspended_board_counts_on() -> None:
    """CLOCK_BOOTTIME and the wall clock go on; only the loop's own clock does not."""
    timer = countdown("tea", 300, NOW)
    (rings,) = ringing([timer], later(NOW, 340))
    assert (rings.late, rings.missed) == (40, False)
    (rings,) = ringing([timer], later(NOW, 3600))
    assert rings.missed


def test_after_another_boot_the_wall_clock_counts() -> None:
    timer = countdown("tea", 300, NOW)
    booted = at("2026-11-30 08:03:00", uptime=20, boot="b2")
    assert left(adopted(timer, booted), booted) == pytest.approx(120)


def test_a_clock_that_lost_the_time_does_not_prolong_a_countdown() -> None:
    timer = countdown("tea", 300, NOW)
    lost = at("1970-01-02 00:00:00", uptime=20, boot="b2")
    assert left(adopted(timer, lost), lost) == pytest.approx(300)
    corrected = replace(later(lost, 60), wall=NOW.wall + 100)
    assert left(adopted(timer, lost), corrected) == pytest.approx(240)


def test_an_alarm_goes_by_the_wall_clock() -> None:
    alarm = Timer(1, "up", at=datetime(2026, 12, 1, 7, 30))
    assert ringing([alarm], at("2026-12-01 07:29:59")) == []
    (rings,) = ringing([alarm], at("2026-12-01 07:30:00"))
    assert (rings.late, rings.after) == (0, None)
    (rings,) = ringing([alarm], at("2026-12-01 07:35:01"))
    assert rings.missed


def test_a_repeating_alarm_comes_again_on_its_days_and_once_each() -> None:
    alarm = Timer(1, "up", at=datetime(2026, 12, 4, 7, 30), repeat=frozenset(range(5)))  # a Friday
    (rings,) = ringing([alarm], at("2026-12-04 07:30:00"))
    assert rings.after == replace(alarm, at=datetime(2026, 12, 7, 7, 30))
    assert ringing([rings.after], at("2026-12-04 07:29:30")) == [], "the clock was put right by a minute"


def test_days_of_missed_repeats_are_one() -> None:
    alarm = Timer(1, "up", at=datetime(2026, 12, 1, 7, 30), repeat=frozenset(range(7)))
    (rings,) = ringing([alarm], at("2026-12-05 12:00:00"))
    assert rings.missed
    assert rings.after == replace(alarm, at=datetime(2026, 12, 6, 7, 30))


def test_set_back_by_hours_a_repeating_alarm_rings_by_the_new_clock() -> None:
    before = at("2026-12-01 08:00:00")
    alarm = Timer(1, "up", at=datetime(2026, 12, 2, 7, 30), repeat=frozenset(range(7)))
    back = later(before, 5, wall=-7200)
    assert was_set_back(before, back)
    assert not was_set_back(before, later(before, 5, wall=-30))
    assert not was_set_back(before, later(before, 5, wall=7200))
    assert timers.at_new_clock(alarm, back).at == datetime(2026, 12, 1, 7, 30)


def test_a_clock_that_was_years_ahead_does_not_silence_an_alarm() -> None:
    alarm = Timer(1, "up", at=datetime(2040, 1, 1, 7, 30), repeat=frozenset(range(7)))
    assert adopted(alarm, NOW).at == datetime(2026, 12, 1, 7, 30)
    once = Timer(2, "far", at=datetime(2027, 5, 1, 7, 30))
    assert adopted(once, NOW) == once


@pytest.mark.parametrize("shown", ["1970-01-01 01:00:09", "2000-01-01 00:00:09"])
def test_by_a_clock_that_has_no_time_no_alarm_is_moved(shown: str) -> None:
    lost = at(shown, uptime=9, boot="b2")
    for repeat in (frozenset(range(7)), frozenset[int]()):
        alarm = Timer(1, "up", at=datetime(2026, 12, 1, 7, 30), repeat=repeat)
        assert adopted(alarm, lost) == timers.at_new_clock(alarm, lost) == alarm


@pytest.mark.parametrize("repeat", [frozenset(range(7)), frozenset[int]()])
def test_an_alarm_set_by_a_clock_without_the_time_rings_at_its_time_of_day(repeat: frozenset[int]) -> None:
    alarm = Timer(1, "up", at=datetime(1970, 1, 1, 7, 30), repeat=repeat)
    assert adopted(alarm, at("1970-01-01 01:00:30")) == alarm
    assert adopted(alarm, NOW) == replace(alarm, at=datetime(2026, 12, 1, 7, 30))
    assert adopted(replace(alarm, at=datetime(1970, 1, 1, 8, 30)), NOW).at == datetime(2026, 11, 30, 8, 30)


@pytest.mark.parametrize(("now", "are"), [("08:00:00", True), ("09:05:00", True), ("09:05:01", False)])
def test_missed_is_only_what_would_not_ring_by_the_clock_as_it_is(now: str, are: bool) -> None:
    missed = [timers.Missed(1, "up", datetime(2026, 12, 1, 9))]
    assert timers.ahead(missed, at(f"2026-12-01 {now}")) == (missed if are else [])
    assert timers.ahead(missed, at(f"1970-01-01 {now}")) == []


def test_one_that_comes_back_rings_at_its_time_or_before() -> None:
    alarm = Timer(1, "up", at=datetime(2026, 12, 2, 7, 30), repeat=frozenset(range(7)))
    for due in (datetime(2026, 12, 1, 7, 30), datetime(2026, 11, 30, 7, 58)):
        assert timers.by_new_clock(alarm, due, NOW).at == due
    assert timers.by_new_clock(alarm, datetime(2026, 12, 2, 7, 30), NOW).at == datetime(2026, 12, 1, 7, 30)


def test_a_countdown_set_by_a_clock_without_the_time_is_not_missed_by_years() -> None:
    timer = countdown("tea", 300, at("1970-01-01 01:00:30", boot="b0"))
    assert left(adopted(timer, NOW), NOW) == pytest.approx(300)


@pytest.mark.parametrize(
    ("due", "rings"),
    [
        ("2026-10-25 02:30:00", "2026-10-25 02:30:00"),  # comes twice: the first time
        ("2027-03-28 02:30:00", "2027-03-28 03:30:00"),  # does not come at all
    ],
)
def test_in_the_night_of_the_clock_change_an_alarm_rings_once(due: str, rings: str) -> None:
    alarm = Timer(1, "", at=datetime.fromisoformat(due))
    begins = datetime.fromisoformat(due).replace(hour=0, minute=0).timestamp()
    times = [begins + 60 * minute for minute in range(6 * 60)]
    rung = next(t for t in times if ringing([alarm], Moment(t, 0, "b")))
    assert datetime.fromtimestamp(rung) == datetime.fromisoformat(rings)


def test_the_earliest_rings_first() -> None:
    one, two = countdown("one", 20, NOW), countdown("two", 10, NOW)
    assert [rings.timer.label for rings in ringing([one, two], later(NOW, 30))] == ["two", "one"]


STEPS = st.lists(
    st.tuples(st.floats(0.5, 5000), st.sampled_from([0.0, 0.0, 0.0, -86_400.0, -3600.0, 3600.0, 86_400.0])),
    min_size=1,
    max_size=60,
)


@given(st.floats(1, 50_000), STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_countdown_rings_exactly_once_whatever_the_wall_clock_does(
    seconds: float, steps: list[tuple[float, float]]
) -> None:
    kept, now, passed = [countdown("", seconds, NOW)], NOW, 0.0
    for step, jump in steps:
        now, passed = later(now, step, wall=step + jump), passed + step
        rung = ringing(kept, now)
        assert bool(rung) == (bool(kept) and passed >= seconds - 1e-6) or abs(passed - seconds) < 1e-3
        if rung:
            kept = []
            assert rung[0].late == pytest.approx(passed - seconds, abs=1e-3)


@given(st.integers(0, 23), st.frozensets(st.integers(0, 6), min_size=1), STEPS)
def test_a_repeating_alarm_is_always_set_and_never_rings_twice_for_one_time(
    hour: int, repeat: frozenset[int], steps: list[tuple[float, float]]
) -> None:
    start = next_on(NOW.local(), datetime(2000, 1, 1, hour, 30).time(), repeat)
    alarm, now, rung = Timer(1, "", at=start, repeat=repeat), NOW, list[datetime]()
    for step, jump in steps:
        before, now = now, later(now, step, wall=step + jump)
        if was_set_back(before, now):
            alarm, rung = timers.at_new_clock(alarm, now), []
        for rings in ringing([alarm], now):
            assert alarm.at is not None
            rung.append(alarm.at)
            assert rings.after is not None
            alarm = rings.after
        assert alarm.at is not None
        assert alarm.at.weekday() in repeat
        assert (
            timedelta() < alarm.at - now.local() <= timers.WEEK + timedelta(hours=1) or left(alarm, now) > 0
        )
    assert len(set(rung)) == len(rung)
