"""One turn, from message to answer. Read this to understand the harness.

    plan (L1) -> expansion -> one tool: L3 alone; several: L2 -> dispatcher -> L3 -> tool
    -> answer from what the tools returned -> validate: empty fails and is planned anew

Budgets nest: 3 plan attempts; 2 regenerations of an empty reply; 3 calls per tool per attempt; tokens and
seconds over everything. Each is a structural stop. What the tools found is said even when a stop came
first; nothing is claimed that they did not return.

A call that needs a yes ends the turn with a question; the answer to it goes on as a turn of the same name. A
background turn carries out one skill: no planner, no other handle, nobody to ask.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence
from contextlib import closing

from muleteer.engine.protocol import Message
from muleteer.errors import MuleteerError, OverBudgetError, RequestError, TooLongError
from muleteer.harness import answer, confirmation, follower, orders, steps
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.brains import Brain, Lane
from muleteer.harness.claims import CORRECTION, claims
from muleteer.harness.confirmation import Confirmations, Pending
from muleteer.harness.dispatcher import Bridge, Dispatcher
from muleteer.harness.events import (
    CallUse,
    Confirm,
    Emit,
    Event,
    Outcome,
    Planned,
    TextDelta,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from muleteer.harness.exact import Audit, ExactLane
from muleteer.harness.ledger import Ledger
from muleteer.harness.scrub import Scrubber
from muleteer.harness.signals import BudgetExceeded, ConfirmSignal, Plan, PlanSignal, ToolLoopHalt
from muleteer.harness.tool_agent import ToolAgent
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, Skill
from muleteer.tool import Result, Status
from muleteer.toolbox import Tool

log = logging.getLogger(__name__)

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
    """The state of one turn: what was spent, called, said."""

    def __init__(
        self,
        harness: Harness,
        lane: Lane,
        emit: Emit,
        needs_yes: Collection[str],
        background: bool,
        id: str = "",
    ) -> None:
        self.id = id or secrets.token_hex(8)
        self.needs_yes, self.background = needs_yes, background
        self.lane = ExactLane(lane, self.id, harness.audit)
        self.began = time.monotonic()
        self.harness, self.emit = copy.copy(harness), emit  # as it is now, whatever is renewed meanwhile
        self.ledger = Ledger(harness.budgets.turn, emit)
        self.agent = ToolAgent(self.lane, self.ledger, harness.budgets)
        self.writer = answer.Writer(self.lane, self.ledger, harness.budgets, harness.planner.handles)
        self.calls: list[CallUse] = []
        self.bridge = Bridge()
        self.plan = Plan((), 0.0)
        self.said = ""
        self.first_ms = 0.0

    async def run(self, message: str, history: Sequence[Message]) -> None:
        """A message, planned."""
        await self._to_outcome(message, self._attempts(message, history))

    async def run_skill(self, name: str, message: str) -> None:
        """A skill, without a plan. What it is for stands for a message that is not there."""
        skill = self.harness.catalogue.skill(name)
        await self._to_outcome(
            message or (skill.description if skill else name), self._skill(skill, name, message)
        )

    async def go_on(self, pending: Pending, yes: bool) -> None:
        """The rest of a turn whose question is answered."""
        self.plan = Plan(pending.handles, 1.0)
        self.calls += pending.calls
        await self._to_outcome(pending.message, self._answered(pending, yes))

    async def _to_outcome(self, message: str, work: Coroutine[None, None, None]) -> None:
        """Everything that can go wrong ends in exactly one terminal event."""
        self.emit(TurnStarted(self.id))
        try:
            with closing(work):
                await self._check(message)
                await self._within_budget(work)
        except ConfirmSignal as signal:
            self._ask(message, signal)
        except MuleteerError as error:
            self._fail(error.code, str(error), error.status)
        except BaseException as error:  # whoever waits for the terminal event gets one
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
                raise
            log.exception("turn failed", extra={"turn": self.id})
            self._fail(
                "internal", "The turn failed by a fault of Muleteer itself; its log has the details.", 500
            )
        else:
            self.emit(
                TurnFinished(
                    self.id,
                    self.said,
                    self.plan.handles,
                    tuple(self.calls),
                    tuple(self.ledger.levels),
                    self._ms(),
                    self.first_ms,
                )
            )

    async def _check(self, message: str) -> None:
        if not message.strip():
            raise RequestError("The message is empty; say what you want.")
        limit = self.harness.budgets.message
        if (tokens := await self.lane.count(message)) > limit:
            raise TooLongError(f"The message has {tokens} tokens, but only {limit} fit; shorten it.")

    async def _within_budget(self, work: Coroutine[None, None, None]) -> None:
        """The work, under the turn's tokens and seconds. What was found before a stop is still said."""
        seconds = self.harness.budgets.seconds
        try:
            async with asyncio.timeout(seconds):
                await work
        except BudgetExceeded as stop:
            self._land(str(stop))
        except TimeoutError:
            self._land(f"This turn's limit of {seconds:g} seconds is over.")

    async def _attempts(self, message: str, history: Sequence[Message]) -> None:
        failed: list[Plan] = []
        for attempt in range(1, PLAN_ATTEMPTS + 1):
            if not await self._plan(message, failed, attempt):
                await self._reply(message, history)
                break
            await self._execute(message)
            if self.said:
                return
            failed.append(self.plan)
        if not self.said:
            self._say(FLOOR)

    async def _plan(self, message: str, failed: Sequence[Plan], attempt: int) -> bool:
        """L1. Sets the plan; false when the message only wants a reply."""
        shortlist = self.harness.shortlist.pick(message)
        try:
            confidence = await self.harness.planner.plan(self.lane, self.ledger, message, failed, shortlist)
        except PlanSignal as signal:
            self.plan = signal.plan
        else:
            self.plan = Plan((), confidence)
        self.emit(Planned(self.plan.handles, round(self.plan.confidence, 4), attempt))
        return bool(self.plan.handles)

    async def _skill(self, skill: Skill | None, name: str, message: str) -> None:
        """The one plan of a turn that has no planner."""
        if skill is None:
            raise RequestError(f"There is no skill {name!r} in use; `muleteer skills` lists them.")
        self.plan = Plan((skill.name,), 1.0)
        self.emit(Planned(self.plan.handles, 1.0, 1))
        await self._execute(message or skill.description)
        if not self.said:
            self._say(FLOOR)

    async def _answered(self, pending: Pending, yes: bool) -> None:
        """Exactly the call that was asked about, or none; then what it and those before it returned."""
        catalogue, tool = self.harness.catalogue, pending.tool
        dispatcher = Dispatcher([tool], self.agent, catalogue.toolbox.call, self.calls, self.emit)
        self.bridge = dispatcher.bridge
        self.bridge.results += pending.results
        if not yes:
            self.bridge.results.append(Result.ok(f"As you wish: {tool.name} was not called."))
        elif catalogue.tool(tool.handle) != tool:
            self.bridge.results.append(
                Result.error(f"{tool.name} has been changed since you were asked, so it was not called.")
            )
        else:
            await dispatcher.call(tool, pending.arguments)
        self._say(answer.listed(self.bridge.results))

    def _gate(self, tool: Tool, arguments: dict[str, object]) -> Result | None:
        """Ends the turn at a call that needs a yes; in the background, the result that says why not."""
        if tool.effect not in self.needs_yes:
            return None
        if self.background:
            return Result.unavailable(f"{tool.name} needs a yes, and nobody can give one in the background.")
        raise ConfirmSignal(tool, arguments)

    def _ask(self, message: str, signal: ConfirmSignal) -> None:
        """The question is the turn's outcome; whoever answers it goes on from what is kept here."""
        tool, arguments, handles = signal.tool, signal.arguments, self.plan.handles
        calls, levels = tuple(self.calls), tuple(self.ledger.levels)
        found = tuple(self.bridge.results)
        self.harness.confirmations.add(Pending(self.id, message, tool, arguments, handles, found, calls))
        question = confirmation.question(tool, arguments)
        seconds = confirmation.OPEN_SECONDS
        self.emit(
            Confirm(
                self.id,
                tool.name,
                tool.effect,
                arguments,
                question,
                seconds,
                handles,
                calls,
                levels,
                self._ms(),
            )
        )

    async def _execute(self, message: str) -> None:
        """One plan attempt: tools first, then the answer from what they returned."""
        catalogue = self.harness.catalogue
        tools = catalogue.expand(self.plan.handles)
        skills = [skill for handle in self.plan.handles if (skill := catalogue.skill(handle))]
        run = steps.how(self.plan.handles, skills, tools)
        text = "\n\n".join(skill.steps for skill in skills)
        if budgets := [skill.budget for skill in skills if skill.budget]:
            self.ledger.narrow(sum(budgets))
        dispatcher = Dispatcher(
            tools,
            self.agent,
            catalogue.toolbox.call,
            self.calls,
            self.emit,
            follower.in_order(text),
            follower.each_once(text),
            self._gate,
            lambda tool, arguments: orders.refusal(tool, arguments, message, text, self._found()),
            {tool.name: text.count(f"@{tool.handle}") for tool in tools},
        )
        self.bridge = dispatcher.bridge
        prose = ""
        try:
            if run:
                await steps.carry_out(run, skills, tools, dispatcher, message)
            elif len(tools) == 1:
                await steps.ask_tool(dispatcher, tools[0].name, message)
            else:
                level = follower.Follower(self.lane, self.ledger, self.harness.budgets)
                prose = await level.follow(dispatcher, follower.opening(tools, text, message))
        except ToolLoopHalt as stop:
            log.info("tool loop halted: %s", stop, extra={"turn": self.id})
        except TooLongError as error:
            if not self.bridge.results:
                raise
            log.warning("a skill ended early: %s", error, extra={"turn": self.id})
        if run == "all":
            self._say(answer.listed(self.bridge.results))
        else:
            await self._answer(message, prose)

    async def _answer(self, message: str, prose: str) -> None:
        results = self.bridge.results
        if answer.needs_writing(results):
            async for piece in self.writer.from_facts(message, results, self._acted()):
                self._say(piece if self.said else answer.attributed(piece, results))
        if not self.said:
            self._say(answer.spoken(results))
        if not self.said:
            scrubber = Scrubber(self.harness.planner.handles)
            words = scrubber.feed(prose) + scrubber.finish()
            self._say(CORRECTION if claims(words) and not self._acted() else words)

    def _found(self) -> list[str]:
        """What the tools of this attempt have found out, as sentences."""
        return [each.text for each in self.bridge.results if each.status is Status.OK]

    def _acted(self) -> bool:
        """Whether a tool that can change anything has succeeded in this turn."""
        tools = self.harness.catalogue.toolbox.tools
        done = [tools.get(call.tool) for call in self.calls if call.status == "ok"]
        return any(tool is not None and tool.effect != "read" for tool in done)

    async def _reply(self, message: str, history: Sequence[Message]) -> None:
        for attempt in range(1 + REGENERATIONS):
            async for piece in self.writer.reply(message, history if attempt == 0 else ()):
                self._say(piece)
            if self.said:
                return
            message = f"{message}\n(Answer in one sentence.)"

    def _land(self, why: str) -> None:
        """After a budget stop: say what the tools already returned, else fail with the reason."""
        log.info("turn stopped: %s", why, extra={"turn": self.id})
        if not self.said:
            self._say(answer.spoken(self.bridge.results))
        if not self.said:
            raise OverBudgetError(f"{why} Ask for less at once, or raise the budget.")

    def _say(self, piece: str) -> None:
        if piece:
            self.first_ms = self.first_ms or self._ms()
            self.said += piece
            self.emit(TextDelta(piece))

    def _fail(self, code: str, message: str, status: int) -> None:
        self.emit(TurnFailed(self.id, code, message, status, tuple(self.ledger.levels)))

    def _ms(self) -> float:
        return round((time.monotonic() - self.began) * 1000, 1)
