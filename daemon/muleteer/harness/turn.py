"""One turn, from message to answer. Read this to understand the harness.

    plan (L1) -> attempt: tools, then the answer -> validate: empty fails and is planned anew

Budgets nest: 3 plan attempts; 2 regenerations of an empty reply; 3 calls per tool per attempt; tokens and
seconds over everything. Each is a structural stop. What the tools found is said even when a stop came
first; nothing is claimed that they did not return.

A call that needs a yes ends the turn with a question; the answer to it goes on as a turn of the same name. A
background turn carries out one skill: no planner, no other handle, nobody to ask.
"""

from __future__ import annotations

import asyncio
import copy
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence
from contextlib import closing

from muleteer.engine.protocol import Message
from muleteer.errors import RequestError, TooLongError
from muleteer.harness import answer, landing
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.attempt import Attempt
from muleteer.harness.brains import Brain, Lane
from muleteer.harness.confirmation import Confirmations, Pending, gate
from muleteer.harness.events import Emit, Event, Outcome, Planned
from muleteer.harness.exact import Audit, ExactLane
from muleteer.harness.record import Record
from muleteer.harness.signals import Plan, PlanSignal
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, Skill

PLAN_ATTEMPTS = 3
REGENERATIONS = 2

FLOOR = "I am sorry, I found no answer to that."


class Harness(Arrangement):
    """The harness of one brain over one catalogue. Turns may run at the same time; the engine queues. Tools
    whose effects are in `confirm` never run without a yes."""

    def __init__(
        self, brain: Brain, catalogue: Catalogue, budgets: Budgets, confirm: Collection[str] = ()
    ) -> None:
        super().__init__(brain, catalogue, budgets)
        self.confirm = frozenset(confirm)
        self.confirmations = Confirmations()
        self.audit = Audit()

    def run(
        self,
        message: str = "",
        history: Sequence[Message] = (),
        *,
        skill: str = "",
        background: bool = False,
        confirm: Collection[str] = (),
    ) -> AsyncGenerator[Event, None]:
        """The turn's events as they happen, `TurnStarted` first, an `Outcome` last. Closing the generator
        stops the turn and frees the engine.

        `skill` is carried out without a planner, and needs no message. A background turn has one, waits for
        all others, and is refused what needs a yes. `confirm` adds to the effects that need one.
        """
        needs = self.confirm.union(confirm)

        def work(emit: Emit) -> Coroutine[None, None, None]:
            turn = _Turn(self, self.brain.lane(background), emit, needs, background)
            return turn.run_skill(skill, message) if skill or background else turn.run(message, history)

        return _events(work)

    def take(self, turn: str) -> Pending:
        """The question that this turn ended with, which is open no longer. Raises `NotOpenError`."""
        return self.confirmations.take(turn)

    def confirmed(self, pending: Pending, yes: bool) -> AsyncGenerator[Event, None]:
        """The events of the turn that goes on with an answered question, as `run` has them."""

        def work(emit: Emit) -> Coroutine[None, None, None]:
            turn = _Turn(self, self.brain.lane(False), emit, frozenset(), False, pending.turn)
            return turn.go_on(pending, yes)

        return _events(work)


async def _events(work: Callable[[Emit], Coroutine[None, None, None]]) -> AsyncGenerator[Event, None]:
    """What `work` emits up to its outcome, while it runs in a task that ends with this generator."""
    events: asyncio.Queue[Event] = asyncio.Queue()
    turn = asyncio.create_task(work(events.put_nowait))
    try:
        while True:
            event = await events.get()
            yield event
            if isinstance(event, Outcome):
                return
    finally:
        turn.cancel()
        await asyncio.wait([turn])


class _Turn:
    """One turn over a harness as it is now, whatever is renewed meanwhile."""

    def __init__(
        self,
        harness: Harness,
        lane: Lane,
        emit: Emit,
        needs_yes: Collection[str],
        background: bool,
        id: str = "",
    ) -> None:
        self._harness = copy.copy(harness)
        self._record = Record(id or secrets.token_hex(8), harness.budgets.turn, emit)
        self._lane = ExactLane(lane, self._record.id, harness.audit)
        self._attempt = Attempt(self._harness, self._lane, self._record, gate(needs_yes, background))
        self._writer = answer.Writer(
            self._lane, self._record.ledger, harness.budgets, harness.planner.handles
        )

    async def run(self, message: str, history: Sequence[Message]) -> None:
        """A message, planned."""
        await self._to_outcome(message, self._attempts(message, history))

    async def run_skill(self, name: str, message: str) -> None:
        """A skill, without a plan. What it is for stands for a message that is not there."""
        skill = self._harness.catalogue.skill(name)
        await self._to_outcome(
            message or (skill.description if skill else name), self._skill(skill, name, message)
        )

    async def go_on(self, pending: Pending, yes: bool) -> None:
        """The rest of a turn whose question is answered."""
        self._record.plan = Plan(pending.handles, 1.0)
        self._record.calls += pending.calls
        await self._to_outcome(pending.message, self._attempt.go_on(pending, yes))

    async def _to_outcome(self, message: str, work: Coroutine[None, None, None]) -> None:
        await landing.land(self._record, message, self._checked(message, work), self._harness.confirmations)

    async def _checked(self, message: str, work: Coroutine[None, None, None]) -> None:
        """The work on a message that can be worked on, within the turn's limits."""
        with closing(work):
            if not message.strip():
                raise RequestError("The message is empty; say what you want.")
            limit = self._harness.budgets.message
            if (tokens := await self._lane.count(message)) > limit:
                raise TooLongError(f"The message has {tokens} tokens, but only {limit} fit; shorten it.")
            await landing.within(self._harness.budgets.seconds, self._record, work)

    async def _attempts(self, message: str, history: Sequence[Message]) -> None:
        failed: list[Plan] = []
        for attempt in range(1, PLAN_ATTEMPTS + 1):
            if not await self._plan(message, failed, attempt):
                await self._reply(message, history)
                break
            await self._attempt.run(message)
            if self._record.said:
                return
            failed.append(self._record.plan)
        if not self._record.said:
            self._record.say(FLOOR)

    async def _plan(self, message: str, failed: Sequence[Plan], attempt: int) -> bool:
        """L1. Sets the plan; false when the message only wants a reply."""
        harness, record = self._harness, self._record
        shortlist = harness.shortlist.pick(message)
        try:
            confidence = await harness.planner.plan(self._lane, record.ledger, message, failed, shortlist)
        except PlanSignal as signal:
            record.plan = signal.plan
        else:
            record.plan = Plan((), confidence)
        record.emit(Planned(record.plan.handles, round(record.plan.confidence, 4), attempt))
        return bool(record.plan.handles)

    async def _skill(self, skill: Skill | None, name: str, message: str) -> None:
        """The one plan of a turn that has no planner."""
        if skill is None:
            raise RequestError(f"There is no skill {name!r} in use; `muleteer skills` lists them.")
        self._record.plan = Plan((skill.name,), 1.0)
        self._record.emit(Planned(self._record.plan.handles, 1.0, 1))
        await self._attempt.run(message or skill.description)
        if not self._record.said:
            self._record.say(FLOOR)

    async def _reply(self, message: str, history: Sequence[Message]) -> None:
        for attempt in range(1 + REGENERATIONS):
            async for piece in self._writer.reply(message, history if attempt == 0 else ()):
                self._record.say(piece)
            if self._record.said:
                return
            message = f"{message}\n(Answer in one sentence.)"
