"""One turn's work on a brain that writes freely: flat, or planned and carried out level by level.

    flat, and its tools fit: one loop    else: plan (L1) -> attempt (L2, L3) -> answer; empty is planned anew

Knows one brain. Which one it is, and what happens when it fails, is decided in `elsewhere.py` and `turn.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence

from muleteer.engine.protocol import Message
from muleteer.harness import flat
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.brains import FreeLane
from muleteer.harness.dispatcher import Gate
from muleteer.harness.events import Planned
from muleteer.harness.free.attempt import FreeAttempt
from muleteer.harness.free.listening import Listener
from muleteer.harness.free.planner import FreePlanner
from muleteer.harness.free.speech import Speech
from muleteer.harness.record import Record
from muleteer.harness.signals import Plan, PlanSignal
from muleteer.harness.sourced import told_before
from muleteer.settings.sections import Budgets

PLAN_ATTEMPTS = 3


class FreeTurn:
    """`budgets` are those of this brain; handles that are `withheld` are neither shown nor reached. `attempt`
    carries its plans out."""

    def __init__(
        self,
        arranged: Arrangement,
        lane: FreeLane,
        record: Record,
        gate: Gate,
        budgets: Budgets,
        withheld: Collection[str] = (),
    ) -> None:
        arranged = copy.copy(arranged)
        arranged.budgets = budgets
        self._arranged, self._record, self._budgets = arranged, record, budgets
        self._menu = [line for line in arranged.catalogue.menu() if line.handle not in withheld]
        self._listener = Listener(lane, record.ledger)
        self.attempt = FreeAttempt(arranged, self._listener, record, gate)

    async def flat(self, message: str, history: Sequence[Message]) -> bool:
        """All tools in reach at once; false, and nothing done, where they exceed the brain's prompt."""
        tools = self._arranged.catalogue.expand(line.handle for line in self._menu)
        if await self._listener.lane.count(flat.opening(tools, message)) > self._budgets.flat_prompt:
            return False
        self._record.plan = Plan((), 1.0)
        self.attempt.told = told_before(history)
        await self.attempt.flat(tools, message, history, self._speech(bool(tools)))
        if not self._record.said:
            self._record.say(self._record.words.floor)
        return True

    async def planned(self, message: str, history: Sequence[Message]) -> None:
        """Level by level."""
        record, failed = self._record, list[Plan]()
        planner = FreePlanner(
            self._listener, self._budgets, self._menu, self._arranged.shortlist.pick(message)
        )
        for attempt in range(1, PLAN_ATTEMPTS + 1):
            speech = self._speech(bool(self._menu))
            try:
                replied = await planner.plan(message, speech, history, failed)
            except PlanSignal as signal:
                record.plan = signal.plan
                record.emit(Planned(record.plan.handles, 1.0, attempt))
                self.attempt.told = told_before(history)
                await self.attempt.run(message)
                if record.said:
                    return
                failed.append(record.plan)
            else:
                record.plan = Plan((), 1.0)
                record.emit(Planned((), 1.0, attempt))
                record.dropped = max(record.dropped, planner.dropped)
                if replied:
                    speech.finish()
                elif planner.claimed:
                    record.say(self._denied(bool(self._menu)))
                break
        if not record.said:
            record.say(record.words.floor)

    def _speech(self, able: bool) -> Speech:
        return Speech(self._record.say, [line.handle for line in self._menu], self._denied(able))

    def _denied(self, able: bool) -> str:
        """What is said in place of a deed that nobody did."""
        return self._record.words.not_done if able else self._record.words.no_skill
