"""The seat as background turns use it (`services.Seat`): who drives, claiming a slot, and ending it.

Knows what to say when a slot is not to be run. How claims are agreed on is the business of `work.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Protocol

from muleteer.seat import claims
from muleteer.seat.claims import Settled, State, Verdict
from muleteer.seat.results import Results
from muleteer.seat.work import Work
from muleteer.services import Claim, Claimed, Driver
from muleteer.store.database import StoreError

log = logging.getLogger(__name__)

WORDS = {
    State.CLAIMED: "is being run",
    State.DONE: "was run",
    State.FAILED: "was run and failed",
    State.LOST: "was begun and never finished",
}


def lost(skill: str) -> str:
    """What the inbox says of a run that nobody repeats."""
    return f"{skill} was begun by a device that then failed; whether it was done is not known."


class Seated(Protocol):
    """What is asked of the seat itself. `now` is who drives."""

    def now(self) -> Driver: ...
    def name_of(self, device: str) -> str: ...


class Repeats:
    """Runs that an earlier driver left and that this device repeats, as soon as it is known by what: a device
    may drive before the rest of its daemon is there."""

    def __init__(self) -> None:
        self._known = asyncio.Event()
        self._again: Callable[[Claim], Awaitable[None]] | None = None

    def by(self, again: Callable[[Claim], Awaitable[None]]) -> None:
        """From now on."""
        self._again = again
        self._known.set()

    async def repeat(self, claim: Claim) -> None:
        """Returns when it has ended."""
        await self._known.wait()
        if self._again is not None:
            await self._again(claim)


class Slots:
    """Implements `services.Seat`. `repeats` gets the runs that another device began."""

    def __init__(self, me: str, seat: Seated, work: Work, results: Results) -> None:
        self._me, self._seat, self._work, self._results = me, seat, work, results
        self.repeats = Repeats()

    async def driver(self) -> Driver:
        return self._seat.now()

    async def claim(self, skill: str, slot: str, again: bool = False) -> Claimed:
        now = self._seat.now()
        if not now.here:
            return Claimed(None, now.reason)
        held = self._work.held(skill, slot)
        if held is not None and (held.term, held.device) == (now.term, self._me):
            return Claimed(None, self._said_of(held))
        made = datetime.now(UTC)
        settled = await self._work.claim(claims.Claim(skill, slot, now.term, self._me, again, made=made))
        if settled is None or settled.verdict is Verdict.FENCED:
            return Claimed(None, f"The seat has just changed hands. {self._sentence()}")
        if settled.verdict is Verdict.REPORT:
            await self.left(settled)
        if settled.verdict is not Verdict.RUN:
            return Claimed(None, self._said_of(settled.claim))
        claim = Claim(skill, slot, settled.claim.term, self._me)
        if not await self.may_finish(claim):
            return Claimed(None, f"The seat has just changed hands. {self._sentence()}")
        return Claimed(claim)

    async def may_finish(self, claim: Claim) -> bool:
        now, held = self._seat.now(), self._work.held(claim.skill, claim.slot)
        return (
            now.here
            and held is not None
            and (held.term, held.device, held.state) == (claim.term, self._me, State.CLAIMED)
            and now.term == claim.term
        )

    async def settle(self, claim: Claim, text: str, done: bool = True, private: bool = False) -> None:
        held = self._work.held(claim.skill, claim.slot)
        if held is not None and (held.term, held.device) == (claim.term, self._me):
            await self._work.finish(held, State.DONE if done else State.FAILED)
        else:
            log.warning("The run of %s at %s ended after another device took over.", claim.skill, claim.slot)
        await self._results.write(claim.skill, claim.slot, text, done, private)

    async def left(self, settled: Settled) -> None:
        """An earlier driver began a run and did not end it: repeat it, or tell people."""
        claim = settled.claim
        if settled.verdict is Verdict.RUN:
            await self.repeats.repeat(Claim(claim.skill, claim.slot, claim.term, self._me))
        else:
            with suppress(StoreError):  # it is written later
                await self._results.write(claim.skill, claim.slot, lost(claim.skill), False)

    def _sentence(self) -> str:
        reason = self._seat.now().reason
        return reason[:1].upper() + reason[1:]

    def _said_of(self, held: claims.Claim) -> str:
        who = "this device" if held.device == self._me else self._seat.name_of(held.device)
        return f"{held.skill} at {held.slot} {WORDS[held.state]} on {who}."
