"""Background turns of this device: asked for by a timer, claimed at the seat, run once, settled.

    one at a time per skill -> may it begin? (wait, visibly, with a limit) -> claim -> turn -> does the claim
    still count? -> settle -> hooks

Of the turns of one skill one runs and at most one waits: what a timer asks for meanwhile is the same as what
waits. Knows the seat and the turns by what it needs of them; not how a turn is run or a claim agreed on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol, get_args

from muleteer.background.deferring import Decision, Look, decide
from muleteer.background.schedule import latest
from muleteer.background.spending import Spending
from muleteer.errors import MuleteerError, RequestError
from muleteer.harness.events import Outcome, TurnFinished
from muleteer.seat.claims import worth_running
from muleteer.services import Claim, Inbox, Seat
from muleteer.settings.background import BackgroundSettings
from muleteer.skills import Catalogue

log = logging.getLogger(__name__)

POLL_SECONDS = 5.0  # between two looks while one waits; heat and talk change more slowly
GRACE = timedelta(days=1)  # a board that was off at night makes up for it in the morning, not next week
RECENT = 100  # entries of the inbox that are looked through for a result of another device
UNSEATED = "after this device had lost the seat"
PRIVATE = "The skill is private: what it came to is in the inbox of this device."
NO_SLOT = "by hand "  # how the slot of a turn begins that no schedule has asked for

State = Literal["done", "failed", "skipped", "merged", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a background turn: `merged` with one that waits already, done `elsewhere`, `skipped`
    for the `reason`. `text` is the answer."""

    skill: str
    slot: str
    state: State
    reason: str = ""
    text: str = ""
    turn: str = ""
    tokens: int = 0


@dataclass(slots=True)
class Waiting:
    """One that has not begun."""

    slot: str
    reason: str = ""
    since: float = field(default_factory=time.monotonic)


class Turn(Protocol):
    """The part of a running turn that is used here."""

    id: str

    async def result(self) -> Outcome: ...


Begin = Callable[[str], AbstractAsyncContextManager[Turn]]


class Background:
    """`begin` starts a turn of a skill, `look` tells what is against one now, `passed_on` gets each result.
    `pause` waits so many seconds, `now` tells seconds since 1970."""

    def __init__(
        self,
        settings: BackgroundSettings,
        seat: Seat,
        inbox: Inbox,
        catalogue: Callable[[], Catalogue],
        begin: Begin,
        look: Callable[[], Awaitable[Look]],
        passed_on: Callable[[Ended], None],
        spending: Spending,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.settings, self._seat, self._inbox = settings, seat, inbox
        self._catalogue, self._begin, self._look = catalogue, begin, look
        self._passed_on, self._spending = passed_on, spending
        self._pause, self._now = pause, now
        self._waiting: dict[str, Waiting] = {}
        self._running: dict[str, asyncio.Lock] = {}
        self._ended: dict[str, int] = dict.fromkeys(get_args(State), 0)

    def report(self) -> dict[str, object]:
        """For the status: what runs, what waits and why, the day's tokens, and what became of those since
        the start."""
        waiting = [
            {
                "skill": skill,
                "slot": each.slot,
                "reason": each.reason,
                "since_s": round(time.monotonic() - each.since, 1),
            }
            for skill, each in self._waiting.items()
        ]
        running = [skill for skill, lock in self._running.items() if lock.locked()]
        return {
            "running": running,
            "waiting": waiting,
            "tokens_today": self._spending.tokens,
            "tokens_a_day": self.settings.tokens,
            "ended": dict(self._ended),
        }

    async def run(self, skill: str, by_hand: bool = False) -> Ended:
        """Carry `skill` out for the slot that is due, or once more `by_hand`. Returns when it has ended.

        Raises `RequestError` for a skill that is not there, has no schedule, or one nobody understands.
        """
        slot = await self._slot(skill, by_hand)
        if (waiting := self._waiting.get(skill)) is not None:
            return Ended(skill, slot, "merged", f"{skill} waits already, for the slot {waiting.slot}.")
        self._waiting[skill] = waiting = Waiting(slot, "it is being run already")
        lock = self._running.setdefault(skill, asyncio.Lock())
        try:
            async with lock:
                ended = await self._to_its_end(waiting, skill)
        finally:
            if self._waiting.get(skill) is waiting:
                del self._waiting[skill]
        self._ended[ended.state] += 1
        log.info("background turn %s at %s: %s %s", skill, slot, ended.state, ended.reason)
        return ended

    async def again(self, claim: Claim) -> None:
        """Run what an earlier driver began and did not end: when nothing is against it or it has waited long
        enough, and after this device's own run of it, if it was that which lost the seat."""
        since, limit = time.monotonic(), self.settings.wait * 60.0
        async with self._running.setdefault(claim.skill, asyncio.Lock()):
            while decide(await self._look(), time.monotonic() - since, limit)[0] is Decision.WAIT:
                await self._pause(POLL_SECONDS)
            if await self._seat.may_finish(claim):
                ended = await self._claimed(claim)
                self._ended[ended.state] += 1
                log.info("background turn %s at %s, begun before: %s", claim.skill, claim.slot, ended.state)

    async def _slot(self, name: str, by_hand: bool) -> str:
        skill = self._catalogue().skill(name)
        if skill is None:
            raise RequestError(f"There is no skill {name!r} in use; `muleteer skills` lists them.")
        if by_hand:
            return f"{NO_SLOT}{self._now():.0f}"
        if not skill.schedule:
            raise RequestError(f"{name} has no schedule; with --now it is run all the same.")
        slot = await latest(skill.schedule, self._now())
        if slot is None:
            raise RequestError(f"Nothing of the schedule {skill.schedule!r} is due.")
        return slot.name

    async def _to_its_end(self, waiting: Waiting, skill: str) -> Ended:
        slot = waiting.slot
        if self._is_too_late(slot):
            return await self._skip(
                skill, slot, f"it is too late for {slot}; muleteer turn {skill} --now runs it"
            )
        if (why := await self._held_up(waiting, skill)) is not None:
            return why
        if self._spending.tokens >= self.settings.tokens:
            reason = f"the {self.settings.tokens} tokens of today's background turns are used up"
            return await self._skip(skill, slot, reason)
        claimed = await self._seat.claim(skill, slot, self._repeatable(skill))
        if claimed.claim is None:
            return Ended(skill, slot, "skipped", claimed.reason)
        del self._waiting[skill]  # from here on another one may wait
        return await self._claimed(claimed.claim)

    def _is_too_late(self, slot: str) -> bool:
        """Whether nobody would expect the work of this slot any more."""
        if slot.startswith(NO_SLOT):
            return False
        return not worth_running(
            datetime.fromisoformat(slot), datetime.fromtimestamp(self._now(), UTC), GRACE
        )

    async def _held_up(self, waiting: Waiting, skill: str) -> Ended | None:
        """Wait as long as something is against it; the end, if it must not be run."""
        limit = self.settings.wait * 60.0
        while True:
            look = await self._look()
            if look.driver and await self._done_elsewhere(skill, waiting.slot):
                return Ended(skill, waiting.slot, "elsewhere", "Another device has run it.")
            decision, reason = decide(look, time.monotonic() - waiting.since, limit)
            if decision is Decision.RUN:
                return None
            if decision is Decision.SKIP:
                if look.driver:
                    return Ended(skill, waiting.slot, "skipped", reason)
                return await self._skip(skill, waiting.slot, reason)
            if reason != waiting.reason:
                waiting.reason = reason
                log.info("background turn %s at %s waits: %s", skill, waiting.slot, reason)
            await self._pause(POLL_SECONDS)

    async def _done_elsewhere(self, skill: str, slot: str) -> bool:
        """Whether its result is in the inbox; a driver learns that from its claim."""
        entries = await self._inbox.entries(RECENT)
        return any((each.skill, each.slot) == (skill, slot) for each in entries)

    async def _skip(self, skill: str, slot: str, reason: str) -> Ended:
        """Not run, and said in the inbox."""
        claimed = await self._seat.claim(skill, slot)
        ended = Ended(skill, slot, "skipped", claimed.reason or f"{reason[:1].upper()}{reason[1:]}.")
        if claimed.claim is not None:
            ended = await self._settle(claimed.claim, ended, f"{skill} was not run: {reason}.")
            self._passed_on(ended)
        return ended

    async def _claimed(self, claim: Claim) -> Ended:
        """The turn, and its result in the inbox and the hooks, unless another device drives by then."""
        ended = await self._turn(claim)
        await self._spending.add(ended.tokens)
        said = ended.text or ended.reason
        private = claim.skill in self._catalogue().private
        if await self._seat.may_finish(claim):
            ended = await self._settle(claim, ended, said, private)
            self._passed_on(replace(ended, text="", reason=PRIVATE) if private else ended)
            return ended
        if not self._repeatable(claim.skill):  # else the next driver runs it again, and that result counts
            told = f"{claim.skill} ended {UNSEATED}: {said}"
            kept = await self._settle(claim, replace(ended, state="elsewhere", reason=""), told, private)
            return replace(kept, reason=f"It ended {UNSEATED}. {kept.reason}".rstrip())
        return replace(ended, state="elsewhere", reason=f"It ended {UNSEATED}.")

    async def _settle(self, claim: Claim, ended: Ended, text: str, private: bool = False) -> Ended:
        """What has ended, has, even if the disk does not take what it came to: then the reason says so."""
        try:
            await self._seat.settle(claim, text, done=ended.state == "done", private=private)
        except OSError as error:
            log.error("what %s at %s came to is not kept: %s", claim.skill, claim.slot, error)
            what = "This" if ended.state == "skipped" else "It ran, but its result"
            return replace(ended, reason=f"{ended.reason} {what} could not be kept: {error}".lstrip())
        return ended

    async def _turn(self, claim: Claim) -> Ended:
        skill, slot = claim.skill, claim.slot
        try:
            async with self._begin(skill) as turn:
                outcome = await turn.result()
        except MuleteerError as error:
            return Ended(skill, slot, "failed", str(error))
        tokens = sum(level.decoded + level.generated for level in outcome.levels)
        if isinstance(outcome, TurnFinished):
            return Ended(skill, slot, "done", "", outcome.answer, outcome.turn, tokens)
        message = getattr(outcome, "message", "It ended in a question, which nobody could answer.")
        return Ended(skill, slot, "failed", message, "", outcome.turn, tokens)

    def _repeatable(self, skill: str) -> bool:
        """Whether running it twice changes nothing: all that it may call only reads."""
        return all(tool.effect == "read" for tool in self._catalogue().expand([skill]))
