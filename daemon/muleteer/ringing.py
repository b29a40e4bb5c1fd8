"""The timers of this device: set, kept, rung. `timers.py` decides what rings when; this is the clock, the
waiting and the telling.

A timer is acknowledged once it is on disk. Ringing is an event for all who listen and a command of the
household's choice; what could not ring in time is kept until somebody has been told.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from muleteer import timers
from muleteer.broadcast import Broadcast
from muleteer.chime import Chime
from muleteer.services import MissedTimer, PendingTimer, PendingTimers
from muleteer.store.database import StoreError
from muleteer.store.timers import TimerStore
from muleteer.timers import Missed, Moment, Ringing, Timer
from muleteer.when import say_delay

log = logging.getLogger(__name__)

T = TypeVar("T")

# A clock that is set, or a board that wakes, is noticed after this many seconds at the latest. Shorter would
# keep a board from sleeping; longer, an alarm would be late.
CHECK_SECONDS = 10.0
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def system_clock() -> Callable[[], Moment]:
    """The clocks of this machine. Without a boot id (another system than Linux) each start is a boot."""
    try:
        boot = BOOT_ID.read_text().strip()
    except OSError:
        boot = f"start-{time.time()}"
    return lambda: Moment(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), boot)


class DeviceTimers:
    """Implements `services.Timers`."""

    def __init__(
        self, store: TimerStore, broadcast: Broadcast, chime: Chime, clock: Callable[[], Moment] | None = None
    ) -> None:
        self._store, self._broadcast, self._chime = store, broadcast, chime
        self._clock = clock or system_clock()
        self._timers: dict[int, Timer] | None = None  # None until they could be read
        self._missed: list[Missed] = []
        self._unreadable = 0
        self._unsaved: dict[int, Timer | None] = {}
        self._before = self._clock()
        self._changing = asyncio.Lock()
        self._changed = asyncio.Event()
        self._change: asyncio.Task[Any] | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read what was set, tell what was missed, and ring from now on. When the file cannot be used the
        reason is logged, and each use tries again."""
        try:
            await self.check()
        except StoreError as error:
            log.error("Timers are not available: %s", error)
        self._task = asyncio.create_task(self._run(), name="timers")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        async with self._changing:  # until what was begun is done
            await self._chime.close()
        await self._store.close()

    def silence(self) -> None:
        """Somebody has heard what rings: its commands end, and whoever rings by the event is told."""
        self._chime.hush()
        self._broadcast.publish("timer.silenced", {})

    async def set_timer(self, seconds: float, label: str = "") -> PendingTimer:
        """Raises `ValueError` with a sentence when there are too many, `StoreError` when it is not kept."""
        return await self._whole(partial(self._add, timers.countdown(label, seconds, self._clock())))

    async def set_alarm(
        self, at: datetime, repeat: frozenset[int] = frozenset(), label: str = ""
    ) -> PendingTimer:
        """Like `set_timer`."""
        return await self._whole(partial(self._add, Timer(0, label, at=at, repeat=repeat)))

    async def pending(self) -> PendingTimers:
        """All that are set, the next one first, and those that were missed. Raises `StoreError`."""
        async with self._changing:
            known = await self._known()
            now = self._clock()
            ordered = sorted(known.values(), key=lambda timer: timers.left(timer, now))
            missed = tuple(MissedTimer(each.id, each.label, each.due) for each in self._missed)
            return PendingTimers(tuple(_pending(timer, now) for timer in ordered), missed, self._unreadable)

    async def lengthen(self, id: int, seconds: float) -> PendingTimer | None:
        """The countdown, so much later now; None where it is no longer set. Raises `StoreError`."""
        return await self._whole(partial(self._lengthen, id, seconds))

    async def cancel(self, ids: Sequence[int]) -> list[PendingTimer]:
        """Those of the numbers that were set, now gone for good. Raises `StoreError`."""
        return await self._whole(partial(self._cancel, ids))

    async def told(self, missed: Sequence[MissedTimer]) -> None:
        """Somebody knows of these now. Raises `StoreError`, and then they are still to be told."""
        await self._whole(partial(self._forget, {(each.id, each.due) for each in missed}))

    async def check(self) -> float | None:
        """Ring what is due. Seconds until the next one; None when nothing is set. Raises `StoreError`."""
        return await self._whole(self._look)

    async def _whole(self, change: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do a change, one at a time. Once begun it is done to its end even if whoever asked for it goes
        away: what the file has and what is known here must stay the same."""
        await self._changing.acquire()
        task = self._change = asyncio.create_task(change(), name="a change of timers")
        task.add_done_callback(lambda _: self._changing.release())
        return await asyncio.shield(task)

    async def _look(self) -> float | None:
        known = await self._known()
        now, before = self._clock(), self._before
        self._before = now
        changes = self._by_new_clock(known, before, now)
        for due in timers.ringing(list(known.values()), now):
            changes[due.timer.id] = due.after
            self._ring(due, now)
            if due.after is None:
                del known[due.timer.id]
            else:
                known[due.timer.id] = due.after
        if changes or self._unsaved:
            await self._remember(changes)
        return min((timers.left(timer, now) for timer in known.values()), default=None)

    def _by_new_clock(self, known: dict[int, Timer], before: Moment, now: Moment) -> dict[int, Timer | None]:
        """If the clock was put right, what changes by it; `known` is changed too."""
        moved: dict[int, Timer] = {}
        if timers.was_set_back(before, now):
            log.info("The clock was set back; repeating alarms go by the new time.")
            moved = {number: timers.at_new_clock(timer, now) for number, timer in known.items()}
            moved |= self._not_missed(known, now)
        elif timers.got_time(before, now):
            log.info("The clock has the time now; alarms go by it.")
            moved = {number: timers.adopted(timer, now) for number, timer in known.items()}
        moved = {number: timer for number, timer in moved.items() if known.get(number) != timer}
        known |= moved
        return dict(moved)

    def _not_missed(self, known: dict[int, Timer], now: Moment) -> dict[int, Timer]:
        """The alarms that come back, since they were missed only by a clock that was ahead."""
        ahead = [each for each in timers.ahead(self._missed, now) if each.once or each.id in known]
        self._missed = [each for each in self._missed if each not in ahead]
        back: dict[int, Timer] = {}
        for each in ahead:
            timer = back.get(each.id) or known.get(each.id) or Timer(each.id, each.label, at=each.due)
            back[each.id] = timers.by_new_clock(timer, each.due, now)
        return back

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            wait: float | None = CHECK_SECONDS
            try:
                left = await self.check()
                idle = left is None and not self._unsaved and not self._missed
                wait = None if idle else min(max(CHECK_SECONDS if left is None else left, 0.0), CHECK_SECONDS)
            except StoreError:
                log.debug("Timers are still not available.")
            except Exception:
                log.exception("Timers could not be looked at; that is tried again in %g s.", CHECK_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()

    async def _add(self, timer: Timer) -> PendingTimer:
        known = await self._known()
        if len(known) >= timers.MOST_TIMERS:
            raise ValueError(f"{timers.MOST_TIMERS} timers and alarms are set already; cancel one first.")
        kept = await self._store.add(timer)
        known[kept.id] = kept
        self._changed.set()
        return _pending(kept, self._clock())

    async def _lengthen(self, id: int, seconds: float) -> PendingTimer | None:
        known = await self._known()
        if (timer := known.get(id)) is None or timer.at is not None:
            return None
        longer = timers.longer(timer, seconds)
        await self._save({id: longer}, self._missed)
        known[id] = longer
        self._changed.set()
        return _pending(longer, self._clock())

    async def _cancel(self, ids: Sequence[int]) -> list[PendingTimer]:
        known = await self._known()
        gone = [known[number] for number in dict.fromkeys(ids) if number in known]
        await self._save(dict.fromkeys((timer.id for timer in gone), None), self._missed)
        for timer in gone:
            del known[timer.id]
        self._changed.set()
        return [_pending(timer, self._clock()) for timer in gone]

    async def _forget(self, said: set[tuple[int, datetime]]) -> None:
        await self._known()
        await self._save({}, [each for each in self._missed if (each.id, each.due) not in said])

    async def _known(self) -> dict[int, Timer]:
        """What is set, read from the file once it can be. Raises `StoreError`."""
        if self._timers is None:
            found, self._missed, self._unreadable = await self._store.load()
            now = self._clock()
            self._timers = {timer.id: timers.adopted(timer, now) for timer in found}
            self._timers |= self._not_missed(self._timers, now)
            before = {timer.id: timer for timer in found}
            self._unsaved |= {n: timer for n, timer in self._timers.items() if before.get(n) != timer}
            if not timers.has_time(now.local()):
                log.warning("The clock shows %s; alarms wait until it is set.", now.local().date())
            self._changed.set()
        return self._timers

    def _ring(self, due: Ringing, now: Moment) -> None:
        """Tell of one whose time has come. Before it is saved: better twice than never."""
        timer = due.timer
        when = datetime.fromtimestamp(now.wall - due.late) if timer.at is None else timer.at
        told = {
            "id": timer.id,
            "label": timer.label,
            "kind": _kind(timer),
            "due": when.astimezone().isoformat(timespec="seconds"),
        }
        if due.missed:
            log.warning(
                "%s %d was missed by %s.",
                _kind(timer).title(),
                timer.id,
                say_delay(timedelta(seconds=due.late)),
            )
            once = timer.at is not None and not timer.repeat
            missed = Missed(timer.id, timer.label, when, once)
            self._missed = [*self._missed, missed][-timers.MOST_MISSED :]
            self._broadcast.publish("timer.missed", told | {"late_s": round(due.late, 1)})
            return
        log.info("%s %d rings.", _kind(timer).title(), timer.id)
        self._broadcast.publish("timer.rang", told | {"late_s": round(due.late, 1)})
        self._chime.ring(timer)

    async def _remember(self, changes: dict[int, Timer | None]) -> None:
        """Save what has happened by itself. What cannot be saved now is saved with the next change: it has
        happened all the same."""
        try:
            await self._save(changes, self._missed)
        except StoreError as error:
            if not self._unsaved:
                log.error("That a timer rang could not be kept; after a restart it may ring again: %s", error)
            self._unsaved |= changes

    async def _save(self, changes: dict[int, Timer | None], missed: list[Missed]) -> None:
        await self._store.save(self._unsaved | changes, missed)
        self._missed = missed
        self._unsaved.clear()


def _kind(timer: Timer) -> str:
    return "timer" if timer.at is None else "alarm"


def _pending(timer: Timer, now: Moment) -> PendingTimer:
    left = max(0.0, timers.left(timer, now))
    return PendingTimer(timer.id, timer.label, timers.due_time(timer, now), left, timer.seconds, timer.repeat)
