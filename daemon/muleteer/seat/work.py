"""Background work of the household: slots are claimed, and run once.

Carries out what the pure machine of claims says, in its order: what must be durable is on disk before it is
said. While the disk takes nothing, what needs it has not happened and is tried again; but a run that has
ended has ended. Knows claims and how to say something to a peer; neither who drives nor what a skill does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from muleteer.seat.claiming import Claiming, Outcome, Saying
from muleteer.seat.claims import Claim, Settled, State, Verdict, unsettled
from muleteer.seat.codec import saying_frame, saying_from
from muleteer.seat.membership import Membership
from muleteer.seat.timing import TICK_SECONDS
from muleteer.seat.wire import Body
from muleteer.store.claims import ClaimStore
from muleteer.store.database import StoreError

log = logging.getLogger(__name__)

Input = Callable[[int], Outcome]

MOST_WAITING = 1000  # inputs, while the disk is slow; those from the network beyond are lost, and asked again
LONGEST_SLEEP = 3600.0  # seconds; then what is too old is looked for
DISK_SECONDS = 5.0  # between two tries to write, once one has failed
GIVE_SECONDS = 30.0  # for an input to be carried out; a slow card syncs in less
RUN_SECONDS = 180.0  # that a newcomer waits for runs to end: a turn takes two minutes at most, unless so set
SHARE_SECONDS = 5.0  # for the others to exchange what they know, before the household changes


class Surroundings(Protocol):
    """What the work needs of the seat. `left` is told of a run that an earlier driver did not finish: it is
    to be run again (`Verdict.RUN`) or lost (`Verdict.REPORT`). `ails` is told why no work can be done
    here, and "" when it can be again."""

    def ticks(self) -> int: ...
    def term(self) -> int: ...
    def say(self, peer: str, body: Mapping[str, object]) -> None: ...
    def left(self, settled: Settled) -> None: ...
    def ails(self, reason: str) -> None: ...


class Work:
    """The claims of one device, from `run` until that is cancelled."""

    def __init__(self, me: str, store: ClaimStore, book: list[Claim], around: Surroundings) -> None:
        self._me, self._store, self._around = me, store, around
        self._claiming = Claiming(me, book)
        self._inputs: asyncio.Queue[tuple[Input, asyncio.Future[None] | None]] = asyncio.Queue()
        self._waiting: dict[tuple[str, str], asyncio.Future[Settled | None]] = {}
        self._driving: tuple[int, Membership] | None = None
        self._unsettled: list[Claim] | None = None  # None: not looked for in this term
        self._shared: asyncio.Event = asyncio.Event()
        self._owed: dict[tuple[str, str], Claim] = {}  # runs that have ended, which the disk does not know
        self._ailing, self._told = "", False  # why nothing can be written, and whether that was said
        self._try_at = 0.0  # of the loop's clock: when to write again
        self._waits: dict[str, float] = {}  # newcomers, by since when on the loop's clock

    def driving(self, term: int, membership: Membership) -> None:
        """This device drives in this term; or the membership has changed."""
        if (term, membership) == self._driving:
            return
        if self._driving is None or self._driving[0] != term:
            self._unsettled = None
        self._driving = term, membership
        self._inputs.put_nowait((lambda now: self._claiming.begin(term, membership, now), None))

    def rest(self) -> None:
        """It drives no more. Whoever waits for a claim does not get it."""
        if self._driving is None:
            return
        self._driving = None
        self._claiming.stop()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    def heard(self, peer: str, body: Body) -> None:
        """Raises `BadFrameError`."""
        saying = saying_from(body, peer, self._me)
        if self._inputs.qsize() < MOST_WAITING:
            step = self._claiming.step
            self._inputs.put_nowait((lambda now: step(saying, self._around.term(), now), None))

    async def claim(self, wanted: Claim) -> Settled | None:
        """What is to be done with the slot; None if this device drives no more. Raises `ValueError`, and
        `StoreError` when the claim cannot be kept: then there is none."""
        if wanted.key in self._waiting:
            raise ValueError("it is being claimed already")
        waiting: asyncio.Future[Settled | None] = asyncio.get_running_loop().create_future()
        self._waiting[wanted.key] = waiting
        try:
            await self._give(lambda now: self._claiming.claim(wanted, now))
            return await waiting
        finally:
            if self._waiting.get(wanted.key) is waiting:
                del self._waiting[wanted.key]

    def held(self, skill: str, slot: str) -> Claim | None:
        """What is known of a slot."""
        return self._claiming.book.get((skill, slot))

    async def finish(self, claim: Claim, state: State) -> None:
        """A run of this device has ended. Returns when that is on disk, or owed to it."""
        done = self._put(lambda now: self._claiming.finish(claim, state, now))
        await asyncio.wait(
            [done], timeout=GIVE_SECONDS
        )  # and if it takes longer, it is carried out all the same
        if done.done():
            done.result()

    async def share(self, newcomer: str, membership: Membership) -> None:
        """Before `membership` comes into force: a quorum of it must know every claim. Raises `ValueError`."""
        self._let_runs_end(newcomer)
        try:
            await self._give(lambda now: self._claiming.share(newcomer, now))
            async with asyncio.timeout(SHARE_SECONDS):
                while not self._claiming.is_shared(membership):
                    self._shared.clear()
                    await self._shared.wait()
        except StoreError as error:
            raise ValueError(str(error)) from None
        except TimeoutError:
            raise ValueError("Too few devices have said which work they know of.") from None

    def _let_runs_end(self, newcomer: str) -> None:
        """Who comes from a household of its own may bring a later term: then there is an election, and what
        runs meanwhile would count no more. Raises `ValueError` while something runs, for a while."""
        now = asyncio.get_running_loop().time()
        since = self._waits.setdefault(newcomer, now)
        if newcomer and now - since < RUN_SECONDS and any(map(self._runs_here, self._claiming.book.values())):
            raise ValueError("A background turn is running; a device is enrolled when it has ended.")
        del self._waits[newcomer]

    def _runs_here(self, claim: Claim) -> bool:
        term = self._driving[0] if self._driving else None
        return (claim.state, claim.term, claim.device) == (State.CLAIMED, term, self._me)

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                await self._take(*await self._next())
        except Exception:
            self._around.ails("its background work has broken down")
            raise

    async def _take(self, given: Input, done: asyncio.Future[None] | None) -> None:
        if done and done.done():  # whoever gave it waits no more
            return
        await self._check_disk()
        try:
            await self._carry_out(given(self._around.ticks()))
        except (ValueError, StoreError) as error:
            if done and not done.done():
                done.set_exception(error)
            elif isinstance(error, ValueError):
                log.warning("What was said about background work is lost: %s", error)
            return
        if done and not done.done():
            done.set_result(None)
        self._shared.set()
        await self._settle_what_was_left()

    def _put(self, given: Input) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._inputs.put_nowait((given, done))
        return done

    async def _give(self, given: Input) -> None:
        try:
            async with asyncio.timeout(GIVE_SECONDS):
                await self._put(given)
        except TimeoutError:
            raise StoreError(f"the disk has not answered for {GIVE_SECONDS:.0f} seconds.") from None

    async def _next(self) -> tuple[Input, asyncio.Future[None] | None]:
        left = min((self._claiming.wake_at - self._around.ticks()) * TICK_SECONDS, LONGEST_SLEEP)
        if self._ailing:
            left = self._try_at - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(TICK_SECONDS, left)):
                return await self._inputs.get()
        except TimeoutError:
            if left >= LONGEST_SLEEP:
                await self._forget()
            return self._claiming.tick, None

    async def _check_disk(self) -> None:
        """After a failure, now and then: whether it takes what is owed to it."""
        if self._ailing and asyncio.get_running_loop().time() >= self._try_at:
            with suppress(StoreError):
                await self._keep(())

    async def _keep(self, claims: Iterable[Claim]) -> None:
        """These, and what is owed. Raises `StoreError`; that it lasts is said once."""
        try:
            if self._ailing:
                await self._store.check()
            await self._store.keep([*self._owed.values(), *claims])
        except StoreError as error:
            lasts, due = bool(self._ailing), asyncio.get_running_loop().time() >= self._try_at
            if not lasts:
                log.error("No claim of background work can be kept: %s", error)
            if lasts and due and not self._told:
                self._told = True
                self._around.ails(f"no claim can be kept: {error}")
            self._ailing = str(error)
            if not lasts or due:
                self._try_at = asyncio.get_running_loop().time() + DISK_SECONDS
            raise
        self._owed.clear()
        if self._ailing:
            log.warning("Claims of background work are kept again.")
            self._around.ails("")
        self._ailing, self._told = "", False

    async def _carry_out(self, outcome: Outcome) -> None:
        """Raises `StoreError` when it has not happened."""
        if outcome.store:
            try:
                await self._keep(outcome.store)
            except StoreError:
                if not outcome.ended:
                    self._claiming.undo()
                    raise
                self._owed.update((each.key, each) for each in outcome.store)
        for saying in outcome.sayings:
            self._say(saying)
        for settled in outcome.settled:
            waiting = self._waiting.pop(settled.claim.key, None)
            if waiting and not waiting.done():
                waiting.set_result(settled)
            elif settled.verdict in (Verdict.RUN, Verdict.REPORT):
                self._around.left(settled)

    def _say(self, saying: Saying) -> None:
        """As many of its claims as a frame holds, the newest."""
        claims = saying.claims
        while True:
            try:
                self._around.say(saying.target, saying_frame(replace(saying, claims=claims)))
            except ValueError:
                claims = claims[(len(claims) + 1) // 2 :]
            else:
                return

    async def _settle_what_was_left(self) -> None:
        """Offer anew what earlier drivers have claimed and not finished, once everything is known."""
        if self._driving is None or self._ailing or not self._claiming.is_caught_up():
            return
        term = self._driving[0]
        if self._unsettled is None:
            self._unsettled = unsettled(self._claiming.book.values(), term)
        while self._unsettled:
            old = self._unsettled[-1]
            again = Claim(old.skill, old.slot, term, self._me, old.repeatable, made=old.made)
            try:
                await self._carry_out(self._claiming.claim(again, self._around.ticks()))
            except (ValueError, StoreError):  # too many at once, or a full disk: the next input comes by here
                return
            if self._unsettled:  # not in another term by now
                self._unsettled.pop()

    async def _forget(self) -> None:
        try:
            forgotten = await self._store.forget(datetime.now(UTC))
        except StoreError as error:
            log.warning("Old claims are not removed yet: %s", error)
            return
        for key in forgotten:
            self._claiming.book.pop(key, None)
