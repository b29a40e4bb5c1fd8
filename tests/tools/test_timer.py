"""Setting, listing and cancelling by words, over real timers; and what is said of each."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from muleteer.broadcast import Broadcast
from muleteer.chime import Chime
from muleteer.paths import share_dir
from muleteer.ringing import DeviceTimers, system_clock
from muleteer.services import Absent, Services
from muleteer.store.timers import TimerStore
from muleteer.timers import MOST_TIMERS, Moment
from muleteer.tool import Result, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters
from tools.timer import timer


@pytest.fixture
async def timers(tmp_path: Path) -> AsyncIterator[DeviceTimers]:
    made = DeviceTimers(TimerStore(tmp_path / "timers.db"), Broadcast(), Chime((), 1.0))
    yield made
    await made.close()


@pytest.fixture
def toolbox(timers: DeviceTimers) -> Toolbox:
    return Toolbox.load([share_dir() / "tools"], Services(Absent("no notes"), timers=timers))


def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, timer)
    assert toolbox.tools["timer"].effect == "write"


@pytest.mark.parametrize(
    ("when", "label", "seconds", "said"),
    [
        ("10 min", "", 600, "The timer for 10 minutes is set; it rings "),
        ("1h30", "the roast", 5400, 'The timer for 1 hour 30 minutes for "roast" is set; it rings '),
        ("eine halbe Stunde", "", 1800, "The timer for 30 minutes is set; it rings "),
        (
            "90 seconds for the eggs",
            "",
            90,
            'The timer for 1 minute 30 seconds for "eggs" is set; it rings ',
        ),
        ("set a timer for ten minutes", "", 600, "The timer for 10 minutes is set; it rings "),
        (
            "remind me in half an hour to call mum",
            "",
            1800,
            'The timer for 30 minutes for "call mum" is set; ',
        ),
        ("1 day 2 hours 3 min", "", 93_780, "The timer for 1 day 2 hours 3 minutes is set; it rings "),
        ("", "20 minutes", 1200, "The timer for 20 minutes is set; it rings "),
    ],
)
async def test_ok_sets_a_timer(
    toolbox: Toolbox, timers: DeviceTimers, when: str, label: str, seconds: int, said: str
) -> None:
    result = await call(toolbox, "timer", action="set", when=when, label=label)
    (kept,) = (await timers.pending()).timers
    assert result.status is Status.OK
    assert result.text.startswith(said)
    assert f"{kept.due:%H:%M}" in result.text
    assert kept.seconds == seconds


async def test_ok_sets_an_alarm(toolbox: Toolbox, timers: DeviceTimers) -> None:
    result = await call(toolbox, "timer", action="set", when="tomorrow 6:30", label="up")
    assert result.text == 'The alarm for "up" is set tomorrow at 06:30.'
    result = await call(toolbox, "timer", action="set", when="every day at 7", label="")
    assert result.text.startswith("The alarm is set every day, first ")
    due = [(each.due.hour, each.due.minute, len(each.repeat)) for each in (await timers.pending()).timers]
    assert sorted(due) == [(6, 30, 0), (7, 0, 7)]


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ("", "I do not know when that is"),
        ("soon", "I do not know when that is"),
        ("0 minutes", "A timer runs for a second to a year"),
        ("900 days", "A timer runs for a second to a year"),
        ("24.12.2099 18:00", "An alarm can be at most a year away"),
        ("yesterday 7:30", "I do not know when that is"),
    ],
)
async def test_a_time_that_makes_no_sense_is_an_error(
    toolbox: Toolbox, timers: DeviceTimers, when: str, text: str
) -> None:
    result = await call(toolbox, "timer", action="set", when=when)
    assert result.status is Status.ERROR
    assert result.text.startswith(text)
    assert (await timers.pending()).timers == ()


async def test_too_many_are_an_error(toolbox: Toolbox, timers: DeviceTimers) -> None:
    for _ in range(MOST_TIMERS):
        await timers.set_timer(60)
    assert await call(toolbox, "timer", action="set", when="10 min") == Result.error(
        f"{MOST_TIMERS} timers and alarms are set already; cancel one first."
    )


async def test_the_list_is_said_the_next_first_and_empty_is_empty(
    toolbox: Toolbox, timers: DeviceTimers
) -> None:
    assert await call(toolbox, "timer", action="list") == Result.empty("No timer or alarm is set.")
    tomorrow = datetime.now().replace(hour=6, minute=30, second=0, microsecond=0) + timedelta(days=1)
    await timers.set_alarm(tomorrow, frozenset(range(7)), "up")
    await timers.set_timer(300.5, "tea")
    result = await call(toolbox, "timer", action="list")
    assert result.text == (
        '2 are set: the timer for tea in 5 minutes; the alarm for "up" every day, next tomorrow at 06:30.'
    )


@pytest.mark.parametrize(
    ("when", "label", "gone"),
    [
        ("", "tea", ["tea"]),
        ("", "the Tea timer", ["tea"]),
        ("5 min", "", ["tea"]),
        ("", "1", ["tea"]),
        ("", "alarm", ["up"]),
        ("6:30", "", ["up"]),
        ("", "all", ["pasta", "tea", "up"]),
        ("", "all timers", ["pasta", "tea"]),
        ("", "timer tea and timer pasta", ["pasta", "tea"]),
        ("", "timer 5 minute and alarm", ["tea", "up"]),
    ],
)
async def test_cancelling_by_what_was_said(
    toolbox: Toolbox, timers: DeviceTimers, when: str, label: str, gone: list[str]
) -> None:
    await timers.set_timer(300, "tea")
    await timers.set_timer(600, "pasta")
    await timers.set_alarm(
        datetime.now().replace(hour=6, minute=30, second=0, microsecond=0) + timedelta(1), frozenset(), "up"
    )
    result = await call(toolbox, "timer", action="cancel", when=when, label=label)
    assert result.status is Status.OK, result.text
    left = {each.label for each in (await timers.pending()).timers}
    assert sorted({"tea", "pasta", "up"} - left) == gone


async def test_nothing_to_cancel_is_empty_and_an_unclear_one_is_asked_about(
    toolbox: Toolbox, timers: DeviceTimers
) -> None:
    assert (await call(toolbox, "timer", action="cancel")).status is Status.EMPTY
    await timers.set_timer(300.5, "tea")
    result = await call(toolbox, "timer", action="cancel", label="laundry")
    assert result == Result.empty(
        'There is no timer or alarm "laundry". Set: the timer for tea in 5 minutes.'
    )
    await timers.set_timer(600.5)
    result = await call(toolbox, "timer", action="cancel")
    assert result.status is Status.ERROR
    assert result.text.startswith("Several are meant: the timer for tea in 5 minutes; ")
    assert len((await timers.pending()).timers) == 2


async def miss_one(timers: DeviceTimers, path: Path) -> datetime:
    """One for "tea" was missed; when it was due."""
    past = system_clock()()
    long_ago = DeviceTimers(
        TimerStore(path),
        Broadcast(),
        Chime((), 1.0),
        lambda: Moment(past.wall - 7200, past.uptime, "another boot"),
    )
    await long_ago.set_timer(60, "tea")
    await long_ago.close()
    await timers.check()
    return datetime.fromtimestamp(past.wall - 7140)


async def test_a_missed_one_is_said_once(toolbox: Toolbox, timers: DeviceTimers, tmp_path: Path) -> None:
    due = await miss_one(timers, tmp_path / "timers.db")
    result = await call(toolbox, "timer", action="list")
    assert result.status is Status.OK
    assert result.text.startswith("Missed while this device was off or asleep: tea, due ")
    assert f"{due:%H:%M}. No timer or alarm is set." in result.text
    assert (await call(toolbox, "timer", action="list")).status is Status.EMPTY


async def test_what_could_be_read_is_said_until_it_can_be_kept_that_it_was(
    toolbox: Toolbox, timers: DeviceTimers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.store.database.BUSY_TIMEOUT", 0.01)
    await miss_one(timers, tmp_path / "timers.db")
    other = sqlite3.connect(tmp_path / "timers.db")
    other.execute("BEGIN IMMEDIATE")
    for _ in range(2):
        result = await call(toolbox, "timer", action="list")
        assert result.status is Status.OK, result.text
        assert "Missed while this device was off or asleep: tea" in result.text
    other.rollback()
    other.close()
    assert "tea" in (await call(toolbox, "timer", action="list")).text
    assert (await call(toolbox, "timer", action="list")).status is Status.EMPTY


async def test_a_damaged_one_is_not_passed_over(
    toolbox: Toolbox, timers: DeviceTimers, tmp_path: Path
) -> None:
    await timers.set_timer(300.5, "tea")
    connection = sqlite3.connect(tmp_path / "timers.db")
    connection.execute("UPDATE timers SET until = 'soon'")
    connection.commit()
    connection.close()
    again = DeviceTimers(TimerStore(tmp_path / "timers.db"), Broadcast(), Chime((), 1.0))
    box = Toolbox.load([share_dir() / "tools"], Services(Absent("no notes"), timers=again))
    for action in ("list", "cancel"):
        result = await call(box, "timer", action=action)
        assert result == Result.unavailable("One is damaged and cannot be read.")
    assert (await call(box, "timer", action="set", when="10 min")).status is Status.OK
    said = (await call(box, "timer", action="list")).text
    assert said.endswith(" minutes. One more is damaged and cannot be read.")
    await again.close()


@pytest.mark.parametrize("action", ["set", "list", "cancel"])
async def test_unavailable_says_that_nothing_was_changed(
    toolbox: Toolbox, tmp_path: Path, action: str
) -> None:
    (tmp_path / "timers.db").write_bytes(b"garbage" * 1000)
    result = await call(toolbox, "timer", action=action, when="10 min")
    assert result.status is Status.UNAVAILABLE
    failed = "I could not look at the timers: " if action == "list" else "Nothing was changed: "
    assert result.text.startswith(failed)
    assert "damaged" in result.text


@pytest.mark.parametrize("action", ["extend", "set"])
@pytest.mark.parametrize("when", ["ten more minutes", "10 more minutes", "noch zehn Minuten"])
async def test_more_minutes_lengthen_the_one_timer_that_runs(
    toolbox: Toolbox, timers: DeviceTimers, action: str, when: str
) -> None:
    await timers.set_timer(300.5, "eggs")
    await timers.set_alarm(datetime.now() + timedelta(hours=1))
    result = await call(toolbox, "timer", action=action, when=when)
    assert result.text.startswith("10 minutes more for the timer for eggs; it rings at ")
    longer, alarm = (await timers.pending()).timers
    assert (longer.label, round(longer.left), longer.seconds) == ("eggs", 900, 900.5)
    assert alarm.seconds == 0, "an alarm has no length"


async def test_more_minutes_of_several_timers_are_asked_about_and_of_none_refused(
    toolbox: Toolbox, timers: DeviceTimers
) -> None:
    nothing = Result.empty("No timer is running that could be made longer.")
    assert await call(toolbox, "timer", action="extend", when="5 minutes") == nothing
    await timers.set_timer(300.5, "eggs")
    await timers.set_timer(900.5, "roast")
    asked = await call(toolbox, "timer", action="extend", when="5 minutes")
    assert asked.status is Status.ERROR
    assert asked.text == (
        "Several are running: the timer for eggs in 5 minutes; the timer for roast in 15 minutes. Say which."
    )
    done = await call(toolbox, "timer", action="extend", when="5 minutes", label="the roast")
    assert done.text.startswith("5 minutes more for the timer for roast")
    assert [round(each.left) for each in (await timers.pending()).timers] == [300, 1200]


@pytest.mark.parametrize(
    ("when", "label", "name"),
    [
        ("tomorrow at 7", "Set an alarm for tomorrow at 7", ""),
        ("morgen um 6:30 Uhr", "Stelle einen Wecker für morgen um 6:30 Uhr.", ""),
        ("tomorrow 7:00", "alarm", ""),
        ("tomorrow 5 pm", "remind me tomorrow at 5 pm to water the plants", "water the plants"),
        ("8 minutes", "timer for 8 minutes for the pasta", "the pasta"),
        ("", "set a timer of 8 minutes for the pasta", "pasta"),
    ],
)
async def test_a_label_is_only_what_names_it(
    toolbox: Toolbox, timers: DeviceTimers, when: str, label: str, name: str
) -> None:
    assert (await call(toolbox, "timer", action="set", when=when, label=label)).status is Status.OK
    assert [each.label for each in (await timers.pending()).timers] == [name]


@pytest.mark.parametrize(
    "said", ["Cancel the alarm", "the alarm", "stell den Wecker ab", "cancela la alarma", "annule le réveil"]
)
async def test_the_only_one_of_a_kind_is_cancelled_by_its_kind(
    toolbox: Toolbox, timers: DeviceTimers, said: str
) -> None:
    await timers.set_timer(300, "tea")
    await timers.set_alarm(datetime.now() + timedelta(hours=1), frozenset(), "set an alarm for seven")
    result = await call(toolbox, "timer", action="cancel", label=said)
    assert result.status is Status.OK, result.text
    assert [each.label for each in (await timers.pending()).timers] == ["tea"]
    await timers.set_alarm(datetime.now() + timedelta(hours=1))
    await timers.set_alarm(datetime.now() + timedelta(hours=2))
    assert (await call(toolbox, "timer", action="cancel", label=said)).status is Status.ERROR, "which one?"
