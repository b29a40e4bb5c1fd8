"""What rings when: countdowns run on elapsed time, alarms on the wall clock. Pure: moments in, decisions out.

A countdown counts seconds since boot, suspend included (CLOCK_BOOTTIME), so setting the clock does not touch
it; after another boot only the wall clock is left to go by. An alarm is a naive local time: it goes by what
the wall clock says then, through changes of clocks and zones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from muleteer.when import next_on

MOST_TIMERS = 64  # set at once; no household has more, and a list of them can still be said
MOST_MISSED = 32  # kept until they are told; the newest
SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=366)
LATE_SECONDS = 300.0  # an egg is still worth hearing of; an alarm that is later than that was missed
JUMP_SECONDS = 60.0  # the clock was set back; less is how clocks are kept right
# A clock that shows less is wrong: this program is younger. Boards that keep no time begin at 1970 or 2000.
EARLIEST = datetime(2025, 1, 1)
WEEK = timedelta(days=8)  # the next one of a repeating alarm is never farther away than this


@dataclass(frozen=True, slots=True)
class Moment:
    """Now: `wall` in seconds since 1970, `uptime` in seconds since the boot of that id, suspend included."""

    wall: float
    uptime: float
    boot: str

    def local(self) -> datetime:
        """As the wall clock shows it, naive."""
        return datetime.fromtimestamp(self.wall)


@dataclass(frozen=True, slots=True)
class Timer:
    """A countdown of `seconds`, which ends at `until` of that boot, and at `due` on the wall clock it was set
    by; or an alarm at `at` (naive local time), again on the weekdays `repeat`."""

    id: int
    label: str
    seconds: float = 0.0
    until: float = 0.0
    boot: str = ""
    due: float = 0.0
    at: datetime | None = None
    repeat: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Missed:
    """One that did not ring: when it should have (naive local time). `once` is an alarm that does not come
    again."""

    id: int
    label: str
    due: datetime
    once: bool = False


@dataclass(frozen=True, slots=True)
class Ringing:
    """A timer whose time has come, by how many seconds too late, and what becomes of it: the next one of a
    repeating alarm, or None."""

    timer: Timer
    late: float
    after: Timer | None

    @property
    def missed(self) -> bool:
        return self.late > LATE_SECONDS


def countdown(label: str, seconds: float, now: Moment) -> Timer:
    return Timer(0, label, seconds, now.uptime + seconds, now.boot, now.wall + seconds)


def longer(timer: Timer, seconds: float) -> Timer:
    """A countdown that ends so many seconds later."""
    return replace(
        timer, seconds=timer.seconds + seconds, until=timer.until + seconds, due=timer.due + seconds
    )


def left(timer: Timer, now: Moment) -> float:
    """Seconds until it rings; negative when it should have."""
    if timer.at is not None:
        return timer.at.timestamp() - now.wall
    if timer.boot == now.boot:
        return timer.until - now.uptime
    return timer.due - now.wall


def due_time(timer: Timer, now: Moment) -> datetime:
    """When it rings, as the wall clock will show it."""
    if timer.at is not None:
        return timer.at
    return datetime.fromtimestamp(now.wall + left(timer, now))


def ringing(timers: Iterable[Timer], now: Moment) -> list[Ringing]:
    """Those whose time has come, the earliest first."""
    lates = [(-left(timer, now), timer) for timer in timers]
    due = sorted(
        ((late, timer) for late, timer in lates if late >= 0), key=lambda pair: (-pair[0], pair[1].id)
    )
    return [Ringing(timer, late, after(timer, now)) for late, timer in due]


def after(timer: Timer, now: Moment) -> Timer | None:
    """What becomes of it once it has rung: never the same time again, even if the clock went back."""
    if timer.at is None or not timer.repeat:
        return None
    return replace(timer, at=next_on(max(now.local(), timer.at), timer.at.time(), timer.repeat))


def adopted(timer: Timer, now: Moment) -> Timer:
    """A timer that was set by another clock, before this start of the daemon or before the clock had the
    time. A clock that has lost the time must not make a countdown longer than it was. An alarm waits for one
    that has it; set by one that had not, it rings at its time of day. Nor may one that was ahead silence a
    repeating alarm."""
    if timer.at is None:
        unknown = not has_time(datetime.fromtimestamp(timer.due)) and has_time(now.local())
        if timer.boot != now.boot and (left(timer, now) > timer.seconds or unknown):
            return replace(
                timer, until=now.uptime + timer.seconds, boot=now.boot, due=now.wall + timer.seconds
            )
        return timer
    if has_time(now.local()) and not has_time(timer.at):
        days = timer.repeat or frozenset(range(7))
        return replace(timer, at=next_on(now.local(), timer.at.time(), days))
    if timer.repeat and timer.at - now.local() > WEEK:
        return at_new_clock(timer, now)
    return timer


def has_time(shown: datetime) -> bool:
    """Whether a clock that shows this may be right."""
    return shown >= EARLIEST


def got_time(before: Moment, now: Moment) -> bool:
    """Whether the clock was put right between two moments: until then it could not have been."""
    return has_time(now.local()) and not has_time(before.local())


def ahead(missed: Iterable[Missed], now: Moment) -> list[Missed]:
    """Those that a clock which was ahead took for missed: by the right one their time is still to come, or
    not so long ago that they would not ring."""
    if not has_time(now.local()):
        return []
    return [each for each in missed if now.wall - each.due.timestamp() <= LATE_SECONDS]


def by_new_clock(timer: Timer, due: datetime, now: Moment) -> Timer:
    """An alarm that is to ring at `due` after all, if it does not before."""
    moved = at_new_clock(timer, now)
    return moved if moved.at is None else replace(moved, at=min(moved.at, due))


def at_new_clock(timer: Timer, now: Moment) -> Timer:
    """After the clock was set back: a repeating alarm rings at its next time by the new clock, unless that
    one has lost the time."""
    if timer.at is None or not timer.repeat or (has_time(timer.at) and not has_time(now.local())):
        return timer
    return replace(timer, at=next_on(now.local(), timer.at.time(), timer.repeat))


def was_set_back(before: Moment, now: Moment) -> bool:
    """Whether the wall clock went back between two moments of one boot."""
    return before.boot == now.boot and (now.wall - before.wall) - (now.uptime - before.uptime) < -JUMP_SECONDS
