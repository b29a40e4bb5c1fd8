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
from functools import partial

from muleteer import session
from muleteer.engine.protocol import Message
from muleteer.errors import RequestError, TooLongError
from muleteer.harness import answer, followup, landing, stopping, wishes
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.attempt import Attempt
from muleteer.harness.brains import Brain, Brains, Chosen, Lane
from muleteer.harness.compound import SURE
from muleteer.harness.confirmation import Confirmations, Pending, gate
from muleteer.harness.events import Emit, Event, Outcome, Planned
from muleteer.harness.exact import Audit, ExactLane
from muleteer.harness.free.elsewhere import Elsewhere
from muleteer.harness.free.turn import FreeTurn
from muleteer.harness.language import language
from muleteer.harness.partwise import Cutter, Partwise
from muleteer.harness.phrases import phrases
from muleteer.harness.record import Record
from muleteer.harness.signals import ConfirmSignal, Plan, PlanSignal
from muleteer.harness.sourced import talked, told_before
from muleteer.harness.talking import Talking
from muleteer.privacy import Privacy
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, Skill

PLAN_ATTEMPTS = 3
REGENERATIONS = 2

# To read the menu after a start or a change, which is not the turn's own time: 2,000 tokens at a slow board's
# 5 a second, or whoever is before it in the queue.
MENU_SECONDS = 600.0

Before = Callable[[], Coroutine[None, None, None]]


class Harness(Arrangement):
    """The harness of one brain over one catalogue. Turns may run at the same time; the engine queues. Tools
    whose effects are in `confirm` never run without a yes. `language` is what a message that does not show
    its own is taken for."""

    def __init__(
        self,
        brain: Brain,
        catalogue: Catalogue,
        budgets: Budgets,
        confirm: Collection[str] = (),
        language: str = "en",
        brains: Brains | None = None,
        privacy: Privacy | None = None,
    ) -> None:
        super().__init__(brain, catalogue, budgets)
        self.privacy = privacy or Privacy()
        self.brains = brains
        self.confirm = frozenset(confirm)
        self.language = language
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
        brain: str = "",
        private: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """The turn's events as they happen, `TurnStarted` first, an `Outcome` last. Closing the generator
        stops the turn and frees the engine.

        `skill` is carried out without a planner, and needs no message. A background turn has one, waits for
        all others, and is refused what needs a yes. `confirm` adds to the effects that need one.
        `brain` is the one that shall answer, if it may; a `private` turn stays on this device.
        """
        needs = self.confirm.union(confirm)

        def work(emit: Emit) -> Coroutine[None, None, None]:
            turn = _Turn(self, self.brain.lane(background), emit, message, needs, background)
            return turn.run_skill(skill) if skill or background else turn.run(history, brain, private)

        return stream_of(work)

    def take(self, turn: str, may: Callable[[str], bool]) -> Pending:
        """The question that this turn ended with, as `Confirmations.take` has it. Raises `NotOpenError`."""
        return self.confirmations.take(turn, may)

    def confirmed(self, pending: Pending, yes: bool) -> AsyncGenerator[Event, None]:
        """The events of the turn that goes on with an answered question, as `run` has them."""

        def work(emit: Emit) -> Coroutine[None, None, None]:
            turn = _Turn(
                self, self.brain.lane(False), emit, pending.message, self.confirm, False, pending.turn
            )
            return turn.go_on(pending, yes)

        return stream_of(work)


async def stream_of(work: Callable[[Emit], Coroutine[None, None, None]]) -> AsyncGenerator[Event, None]:
    """What `work` emits up to its outcome, while it runs in a task that ends with this generator. Raises what
    `work` raises before it has one."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    turn = asyncio.create_task(work(events.put_nowait))
    turn.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while event := await events.get():
            yield event
            if isinstance(event, Outcome):
                return
        await turn
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
        message: str,
        needs_yes: Collection[str],
        background: bool,
        id: str = "",
    ) -> None:
        self._harness, self._message = copy.copy(harness), message
        self._language = language(message, harness.language)
        words = phrases(self._language)

        def noticed(event: Event) -> None:
            if isinstance(event, Planned):
                self._used.update(event.handles)
            emit(event)

        self._record = Record(id or secrets.token_hex(8), harness.budgets, noticed, words)
        self._lane = ExactLane(lane, self._record.id, harness.audit)
        self._gate = gate(needs_yes, background, words)
        self._attempt = Attempt(self._harness, self._lane, self._record, self._gate)
        self._chosen = Chosen("local")
        self._private = False
        self._used: set[str] = set()
        cutter = Cutter(self._harness.catalogue, self._planned)
        self._parts = Partwise(cutter, self._record, self._attempt)

    async def run(self, history: Sequence[Message], brain: str, private: bool) -> None:
        """A message, by the brain that is wanted and may be asked."""
        self._attempt.told = told_before(history)
        choose = partial(self._choose, brain, history, private)
        await self._to_outcome(self._message, self._by_brain(history), choose)

    async def run_skill(self, name: str) -> None:
        """A skill, without a plan. What it is for stands for a message that is not there."""
        skill = self._harness.catalogue.skill(name)
        self._message = self._message or (skill.description if skill else name)
        await self._to_outcome(self._message, self._skill(skill, name))

    async def go_on(self, pending: Pending, yes: bool) -> None:
        """The rest of a turn whose question is answered."""
        self._record.plan = Plan(pending.handles, 1.0)
        self._record.calls += pending.calls
        self._parts.left = list(pending.parts)
        await self._to_outcome(pending.message, self._answered(pending, yes))

    async def _to_outcome(
        self, message: str, work: Coroutine[None, None, None], before: Before | None = None
    ) -> None:
        await landing.land(self._record, self._checked(message, work, before), self._ask)

    async def _checked(self, message: str, work: Coroutine[None, None, None], before: Before | None) -> None:
        """The work on a message that can be worked on, within the turn's limits."""
        with closing(work):
            if not message.strip():
                raise RequestError("The message is empty; say what you want.")
            limit = self._harness.budgets.message
            if (tokens := await self._lane.count(message)) > limit:
                raise TooLongError(f"The message has {tokens} tokens, but only {limit} fit; shorten it.")
            if before:
                await landing.within(MENU_SECONDS, self._record, before())
            try:
                await landing.within(self._harness.budgets.seconds, self._record, work)
            finally:
                await self._keep_private()

    async def _choose(self, brain: str, history: Sequence[Message], private: bool) -> None:
        """Which brain answers. The one at home reads its menu, which costs nothing where it is decoded; it
        also says what is private."""
        catalogue, brains = self._harness.catalogue, self._harness.brains
        self._private = private or self._harness.privacy.concerns(session.current.get(), history)
        if brains:
            self._chosen = brains.choose(brain, self._private, *self._reach())
        if catalogue.private if self._chosen.lane else not self._chosen.flat:
            await self._lane.warm(self._harness.planner.prompt(""))

    async def _by_brain(self, history: Sequence[Message]) -> None:
        """Elsewhere, where that may be and can be; at home flat, or planned."""
        harness, record, chosen = self._harness, self._record, self._chosen
        if chosen.lane:
            elsewhere = Elsewhere(harness, record, self._gate, chosen, self._planned)
            if await elsewhere.answered(self._message, answer.with_told(history, harness.instructions)):
                return
        elif harness.brains:
            record.answers(chosen.name, chosen.reason)
        if chosen.flat and not chosen.lane:
            talking = Talking(self._lane, chosen.marks)
            if await FreeTurn(harness, talking, record, self._gate, harness.budgets).flat(
                self._message, answer.with_told(history, harness.instructions)
            ):
                return
        await self._attempts(self._message, history)

    async def _keep_private(self) -> None:
        """What a private skill was used for stays on this device from now on, and so does what follows it."""
        used = self._used.union(self._record.plan.handles)
        if self._private or used & self._harness.catalogue.private:
            await self._harness.privacy.note(session.current.get(), self._message, self._record.said)
        else:
            self._harness.privacy.passed(self._message, self._record.said)

    def _ask(self, signal: ConfirmSignal) -> Pending:
        record = self._record
        found, calls = tuple(record.bridge.results), tuple(record.calls)
        call = (self._message, signal.tool, signal.arguments)
        pending = Pending(
            record.id,
            *call,
            record.plan.handles,
            found,
            calls,
            signal.pause,
            tuple(self._parts.left),
            self._chosen.name,
            session.asker.get(),
        )
        self._harness.confirmations.add(pending)
        return pending

    async def _attempts(self, message: str, history: Sequence[Message]) -> None:
        if await self._follow_up(message, history):
            return
        if await self._parts.cut(message, self._language):
            await self._parts.carry_out()
            return
        failed: list[Plan] = []
        for attempt in range(1, PLAN_ATTEMPTS + 1):
            if not await self._plan(message, failed, attempt):
                await self._reply(message, history)
            else:
                await self._attempt.run(message)
            if self._record.said:
                await self._parts.say_uncovered()
                return
            if not self._record.plan.handles:
                break
            failed.append(self._record.plan)
        if not self._record.said:
            self._record.say(self._record.words.floor)

    async def _follow_up(self, message: str, history: Sequence[Message]) -> bool:
        """Whether the message, completed by what was said before, is surely for a tool, and was answered so.
        A question is never completed to a deed."""
        said = [each.content for each in history if each.role == "user"]
        if not (whole := followup.completed(message, said)):
            return False
        plan = await self._planned(whole)
        tools = self._harness.catalogue.expand(plan.handles)
        asks = message.rstrip().endswith("?") and any(tool.effect == "physical" for tool in tools)
        if not plan.handles or plan.confidence < SURE or asks:
            return False
        record = self._record
        record.plan = plan
        record.emit(Planned(plan.handles, round(plan.confidence, 4), 1))
        await self._attempt.run(whole)
        return bool(record.said)

    async def _plan(self, message: str, failed: Sequence[Plan], attempt: int) -> bool:
        """L1. Sets the plan; false when the message only wants a reply."""
        record = self._record
        record.plan = await self._planned(message, failed)
        record.emit(Planned(record.plan.handles, round(record.plan.confidence, 4), attempt))
        return bool(record.plan.handles)

    async def _planned(self, message: str, failed: Sequence[Plan] = ()) -> Plan:
        """What the planner makes of a message; no handles, and how sure that is, where it wants a reply."""
        harness = self._harness
        among = harness.shortlist.pick(message)
        speaks = await harness.evidence.handles(message, harness.catalogue)
        plan = harness.planner.plan(self._lane, self._record.ledger, message, failed, among, speaks)
        try:
            return Plan((), await plan)
        except PlanSignal as signal:
            return signal.plan

    async def _answered(self, pending: Pending, yes: bool) -> None:
        await self._going_on(pending)(pending, yes)
        await self._parts.carry_out()

    def _going_on(self, pending: Pending) -> Callable[[Pending, bool], Coroutine[None, None, None]]:
        """Who goes on: the brain that wrote the call, if it may still be asked; else the one at home, which
        knows no more of a free brain's plan than the call."""
        harness, brains = self._harness, self._harness.brains
        if brains is None or pending.pause is None or pending.pause.heard is None:
            return self._attempt.go_on
        private = harness.privacy.concerns(session.current.get(), ())
        self._chosen = chosen = brains.choose(pending.brain, private, *self._reach())
        if chosen.name != pending.brain:
            return self._attempt.go_on
        if chosen.lane:
            return Elsewhere(harness, self._record, self._gate, chosen, self._planned).go_on
        talking = Talking(self._lane, chosen.marks)
        return FreeTurn(harness, talking, self._record, self._gate, harness.budgets).attempt.go_on

    def _reach(self) -> tuple[int, int]:
        """How many tools and skills a plan could use."""
        catalogue = self._harness.catalogue
        tools = catalogue.expand(line.handle for line in catalogue.menu())
        return len(tools), len(catalogue.skills)

    async def _skill(self, skill: Skill | None, name: str) -> None:
        """The one plan of a turn that has no planner."""
        if skill is None:
            raise RequestError(f"There is no skill {name!r} in use; `muleteer skills` lists them.")
        self._record.plan = Plan((skill.name,), 1.0)
        self._record.emit(Planned(self._record.plan.handles, 1.0, 1))
        await self._attempt.run(self._message)
        if not self._record.said:
            self._record.say(self._record.words.floor)

    async def _reply(self, message: str, history: Sequence[Message]) -> None:
        harness, record = self._harness, self._record
        if said := self._by_code(message):
            record.say(said)
            return
        able = harness.planner.handles
        correction = record.words.not_done if able else record.words.no_skill
        writer = answer.Writer(
            self._lane, record.ledger, harness.budgets, able, correction, harness.instructions
        )
        for attempt in range(1 + REGENERATIONS):
            async for piece in writer.reply(message, history if attempt == 0 else talked(history)):
                record.say(piece)
            record.dropped = max(record.dropped, writer.dropped)
            if record.said:
                return
            message = f"{message}\n(Answer in one sentence.)"

    def _by_code(self, message: str) -> str:
        """What is said to a wish that no tool takes up, and that a model would only promise to fulfil."""
        words, menu = self._record.words, self._harness.planner.menu
        if stopping.bare(message):
            return words.left_alone
        able = any(wishes.alike(message, example) for line in menu for example in line.examples)
        answers = {
            "forget": words.kept,
            "forbidden": words.left_alone,
            "live": words.no_source,
            "deeds": words.not_done if able else words.no_skill,
        }
        return answers.get(wishes.kind(message), "")
