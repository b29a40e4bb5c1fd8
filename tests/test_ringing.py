"""Timers on a clock that the test holds, a real file, a real command, and restarts."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from muleteer.broadcast import Broadcast, Listener
from muleteer.chime import Chime
from muleteer.ringing import DeviceTimers
from muleteer.services import PendingTimers
from muleteer.store.database import StoreError
from muleteer.store.timers import TimerStore
from muleteer.timers import MOST_TIMERS, Moment

START = Moment(datetime(2026, 11, 30, 8, 0).timestamp(), 5000.0, "b1")
DEADLINE = 10.0


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> Moment:
        return self.now

    def passes(self, seconds: float, wall: float | None = None) -> None:
        moved = seconds if wall is None else wall
        self.now = replace(self.now, wall=self.now.wall + moved, uptime=self.now.uptime + seconds)

    def boots(self, seconds: float) -> None:
        self.now = Moment(self.now.wall + seconds, 10.0, self.now.boot + "'")


Make = Callable[..., DeviceTimers]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broadcast() -> Broadcast:
    return Broadcast()


@pytest.fixture
async def make(tmp_path: Path, clock: Clock, broadcast: Broadcast) -> AsyncIterator[Make]:
    """Timers over the same file, each as after a restart; the task that waits is not running, the test is."""
    made: list[DeviceTimers] = []

    def make_it(*command: str, seconds: float = 5.0) -> DeviceTimers:
        made.append(
            DeviceTimers(TimerStore(tmp_path / "timers.db"), broadcast, Chime(command, seconds), clock)
        )
        return made[-1]

    yield make_it
    for each in made:
        await each.close()


async def heard(listener: Listener) -> tuple[str, object]:
    async with asyncio.timeout(DEADLINE):
        notice = await listener.next()
    assert notice is not None
    return notice.name, notice.fields["label"]


async def test_a_timer_rings_once_and_is_gone(make: Make, clock: Clock, broadcast: Broadcast) -> None:
    timers = make()
    set_ = await timers.set_timer(300, "tea")
    assert (set_.left, set_.due) == (300, START.local() + timedelta(minutes=5))
    with broadcast.listen() as listener:
        clock.passes(299)
        assert await timers.check() == pytest.approx(1)
        clock.passes(2)
        assert await timers.check() is None
        assert await heard(listener) == ("timer.rang", "tea")
        await timers.check()
        broadcast.publish("end", {"label": ""})
        assert (await heard(listener))[0] == "end"
    assert (await timers.pending()).timers == ()
    assert (await make().pending()).timers == ()


async def test_it_survives_a_restart_and_a_boot(make: Make, clock: Clock) -> None:
    await make().set_timer(300, "tea")
    clock.passes(100)
    again = make()
    assert [round(each.left) for each in (await again.pending()).timers] == [200]
    clock.boots(50)
    assert [round(each.left) for each in (await make().pending()).timers] == [150]


async def test_one_that_was_missed_is_told_until_somebody_knows(
    make: Make, clock: Clock, broadcast: Broadcast, caplog: pytest.LogCaptureFixture
) -> None:
    await make().set_timer(300, "tea")
    clock.boots(3600)
    timers = make()
    with broadcast.listen() as listener:
        await timers.open()
        assert await heard(listener) == ("timer.missed", "tea")
    assert "was missed by 55 minutes" in caplog.text
    assert "tea" not in caplog.text, "what people wrote is not logged"
    for each in (timers, make()):
        missed = (await each.pending()).missed
        assert [(one.label, one.due) for one in missed] == [("tea", START.local() + timedelta(minutes=5))]
    await timers.told(missed)
    assert (await timers.pending()).missed == ()
    assert (await make().pending()).missed == ()


async def test_one_that_is_a_little_late_still_rings(make: Make, clock: Clock, broadcast: Broadcast) -> None:
    await make().set_timer(300, "tea")
    clock.passes(400)
    with broadcast.listen() as listener:
        await make().check()
        assert await heard(listener) == ("timer.rang", "tea")


async def test_a_repeating_alarm_is_set_again_also_in_the_file(make: Make, clock: Clock) -> None:
    timers = make()
    await timers.set_alarm(datetime(2026, 11, 30, 8, 30), frozenset(range(7)), "up")
    clock.passes(1800)
    await timers.check()
    for each in (timers, make()):
        assert [one.due for one in (await each.pending()).timers] == [datetime(2026, 12, 1, 8, 30)]


async def test_a_clock_that_is_set_back_is_noticed(make: Make, clock: Clock) -> None:
    timers = make()
    await timers.set_alarm(datetime(2026, 12, 1, 8, 30), frozenset(range(7)), "up")
    await timers.check()
    clock.passes(5, wall=-86_400)
    await timers.check()
    assert [one.due for one in (await timers.pending()).timers] == [datetime(2026, 11, 29, 8, 30)]


def dues(pending: PendingTimers) -> list[datetime]:
    return [each.due for each in pending.timers]


async def test_a_boot_without_the_time_moves_no_alarm_and_misses_none(
    make: Make, clock: Clock, broadcast: Broadcast, caplog: pytest.LogCaptureFixture
) -> None:
    before = make()
    await before.set_alarm(datetime(2026, 12, 1, 8, 30), frozenset(range(7)), "daily")
    await before.set_alarm(datetime(2026, 12, 1, 9), frozenset(), "once")
    set_ = dues(await before.pending())
    clock.now = Moment(30.0, 30.0, "b2")
    timers = make()
    with broadcast.listen() as listener:
        await timers.check()
        assert "alarms wait until it is set" in caplog.text
        for each in (timers, make()):
            assert dues(await each.pending()) == set_
        clock.passes(60, wall=START.wall + 3600 - 30.0)
        await timers.check()
        for each in (timers, make()):
            assert dues(await each.pending()) == set_
        clock.passes(23.5 * 3600)
        await timers.check()
        assert await heard(listener) == ("timer.rang", "daily")
    assert "missed" not in caplog.text


@pytest.mark.parametrize("repeat", [frozenset(range(7)), frozenset[int]()])
@pytest.mark.parametrize("restarts", [False, True])
async def test_an_alarm_set_before_the_clock_had_the_time_is_not_missed_by_years(
    make: Make, clock: Clock, repeat: frozenset[int], restarts: bool
) -> None:
    clock.now = Moment(30.0, 30.0, "b1")
    timers = make()
    await timers.set_alarm(clock.now.local().replace(hour=8, minute=30, second=0), repeat, "up")
    await timers.check()
    clock.now = START
    timers = make() if restarts else timers
    await timers.check()
    for each in (timers, make()):
        pending = await each.pending()
        assert (dues(pending), pending.missed) == ([datetime(2026, 11, 30, 8, 30)], ())


@pytest.mark.parametrize("restarts", [False, True])
async def test_what_was_missed_by_a_clock_that_was_ahead_comes_back(
    make: Make, clock: Clock, broadcast: Broadcast, restarts: bool
) -> None:
    timers = make()
    once = await timers.set_alarm(datetime(2026, 11, 30, 9), frozenset(), "once")
    daily = await timers.set_alarm(datetime(2026, 11, 30, 9, 30), frozenset(range(7)), "daily")
    gone = await timers.set_alarm(datetime(2026, 11, 30, 10), frozenset(range(7)), "gone")
    await timers.set_timer(60, "tea")
    clock.passes(600, wall=86_400)
    await timers.check()
    assert {each.label for each in (await timers.pending()).missed} == {"once", "daily", "gone", "tea"}
    await timers.cancel([gone.id])
    clock.passes(10, wall=-86_400 + 600)
    timers = make() if restarts else timers
    await timers.check()
    for each in (timers, make()):
        pending = await each.pending()
        assert [one.id for one in pending.timers] == [once.id, daily.id]
        assert dues(pending) == [datetime(2026, 11, 30, 9), datetime(2026, 11, 30, 9, 30)]
        assert not {"once", "daily"} & {one.label for one in pending.missed}
        assert "tea" in {one.label for one in pending.missed}
    clock.passes(3600 - 600)
    with broadcast.listen() as listener:
        await timers.check()
        assert await heard(listener) == ("timer.rang", "once")


async def test_the_only_one_comes_back_by_itself(
    make: Make, clock: Clock, broadcast: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.ringing.CHECK_SECONDS", 0.01)
    timers = make()
    await timers.open()
    with broadcast.listen() as listener:
        await timers.set_alarm(datetime(2026, 11, 30, 9), frozenset(), "once")
        clock.passes(1, wall=86_400)
        assert await heard(listener) == ("timer.missed", "once")
        clock.passes(1, wall=-86_400 + 3601)
        assert await heard(listener) == ("timer.rang", "once")


async def test_cancelled_is_gone_for_good(make: Make, clock: Clock) -> None:
    timers = make()
    one, two = await timers.set_timer(60, "one"), await timers.set_timer(30, "two")
    assert [each.label for each in await timers.cancel([one.id, 99, one.id])] == ["one"]
    assert await timers.cancel([one.id]) == []
    assert [each.label for each in (await make().pending()).timers] == ["two"]
    assert two.id != one.id


async def test_there_are_only_so_many(make: Make) -> None:
    timers = make()
    for _ in range(MOST_TIMERS):
        await timers.set_timer(60)
    with pytest.raises(ValueError, match=f"{MOST_TIMERS} timers and alarms are set already"):
        await timers.set_timer(60)


async def test_a_damaged_file_is_told_at_each_use_and_comes_back(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "timers.db"
    path.write_bytes(b"garbage" * 1000)
    timers = make()
    await timers.open()
    assert "Timers are not available" in caplog.text
    for use in (timers.pending, lambda: timers.set_timer(60), lambda: timers.cancel([1])):
        with pytest.raises(StoreError, match="damaged"):
            await use()
    assert path.read_bytes() == b"garbage" * 1000
    path.unlink()
    await timers.set_timer(60, "tea")
    assert len((await timers.pending()).timers) == 1


async def test_a_damaged_row_silences_no_other_and_is_counted(
    make: Make, clock: Clock, broadcast: Broadcast, tmp_path: Path
) -> None:
    before = make()
    await before.set_alarm(datetime(2026, 11, 30, 8, 30), frozenset((0,)), "broken")
    await before.set_timer(60, "tea")
    await before.close()
    connection = sqlite3.connect(tmp_path / "timers.db")
    connection.execute("UPDATE timers SET repeat = 'z9' WHERE label = 'broken'")
    connection.commit()
    connection.close()
    timers = make()
    await timers.set_timer(90, "eggs")
    clock.passes(61)
    with broadcast.listen() as listener:
        await timers.check()
        assert await heard(listener) == ("timer.rang", "tea")
    pending = await timers.pending()
    assert ([each.label for each in pending.timers], pending.unreadable) == (["eggs"], 1)


async def test_what_rang_while_the_file_was_locked_rings_once_and_is_saved_later(
    make: Make, clock: Clock, broadcast: Broadcast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.store.database.BUSY_TIMEOUT", 0.01)
    timers = make()
    await timers.set_timer(60, "tea")
    other = sqlite3.connect(tmp_path / "timers.db")
    other.execute("BEGIN IMMEDIATE")
    clock.passes(61)
    with broadcast.listen() as listener:
        await timers.check()
        assert await heard(listener) == ("timer.rang", "tea")
        other.rollback()
        other.close()
        await timers.check()
        broadcast.publish("end", {"label": ""})
        assert (await heard(listener))[0] == "end"
    assert (await make().pending()).timers == ()


async def until(it: Callable[[], bool]) -> None:
    """Let others work until it is so."""
    async with asyncio.timeout(DEADLINE):
        while not it():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)


@pytest.mark.parametrize("then", ["it is looked at", "it is closed"])
async def test_who_goes_away_leaves_file_and_memory_the_same(
    make: Make, clock: Clock, broadcast: Broadcast, tmp_path: Path, then: str
) -> None:
    timers = make()
    old = await timers.set_timer(60, "old")
    other = sqlite3.connect(tmp_path / "timers.db", check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    asked = [asyncio.create_task(timers.set_timer(90, "new")), asyncio.create_task(timers.cancel([old.id]))]
    await until(lambda: any(task.get_name() == "a change of timers" for task in asyncio.all_tasks()))
    asked[0].cancel()
    await asyncio.wait(asked[:1])
    unlock = asyncio.create_task(asyncio.to_thread(other.rollback))
    if then == "it is closed":
        await timers.close()
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "a change of timers"]
    await asyncio.wait({unlock, *asked})
    other.close()
    assert asked[0].cancelled()
    for each in (timers, make()):
        assert [one.label for one in (await each.pending()).timers] == ["new"]
    clock.passes(91)
    with broadcast.listen() as listener:
        await timers.check()
        assert await heard(listener) == ("timer.rang", "new")


async def test_who_goes_away_while_waiting_has_asked_for_nothing(make: Make, tmp_path: Path) -> None:
    timers = make()
    await timers.set_timer(30, "first")
    other = sqlite3.connect(tmp_path / "timers.db", check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    asked = [asyncio.create_task(timers.set_timer(60, label)) for label in ("begun", "waiting")]
    await until(lambda: any(task.get_name() == "a change of timers" for task in asyncio.all_tasks()))
    asked[1].cancel()
    await asyncio.to_thread(other.rollback)
    await asyncio.wait(asked)
    other.close()
    for each in (timers, make()):
        assert [one.label for one in (await each.pending()).timers] == ["first", "begun"]


async def test_that_somebody_was_told_holds_only_once_it_is_saved(
    make: Make, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.store.database.BUSY_TIMEOUT", 0.01)
    await make().set_timer(300, "tea")
    clock.boots(3600)
    timers = make()
    await timers.check()
    missed = (await timers.pending()).missed
    other = sqlite3.connect(tmp_path / "timers.db")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        await timers.told(missed)
    assert (await timers.pending()).missed == missed
    other.rollback()
    other.close()
    await timers.told(missed)
    assert (await timers.pending()).missed == ()


async def test_a_longer_one_rings_later_also_after_a_restart(make: Make, clock: Clock) -> None:
    timers = make()
    tea, up = await timers.set_timer(300, "tea"), await timers.set_alarm(START.local() + timedelta(hours=1))
    longer = await timers.lengthen(tea.id, 600)
    assert longer is not None
    assert (longer.left, longer.seconds, longer.due) == (900, 900, START.local() + timedelta(minutes=15))
    assert await timers.lengthen(up.id, 600) is None, "an alarm has no length"
    assert await timers.lengthen(99, 600) is None
    clock.passes(301)
    assert await timers.check() == pytest.approx(599)
    assert [round(each.left) for each in (await make().pending()).timers] == [599, 3299]
