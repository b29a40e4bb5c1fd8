"""One turn, from message to answer. Read this to understand the harness.

    plan (L1) -> expansion -> one tool: L3 alone; several: L2 -> dispatcher -> L3 -> tool
    -> answer from what the tools returned -> validate: empty fails and is planned anew

Budgets nest: 3 plan attempts; 2 regenerations of an empty reply; 3 calls per tool per attempt; tokens and
seconds over everything. Each is a structural stop. What the tools found is said even when a stop came
first; nothing is claimed that they did not return.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Sequence

from muleteer.engine.protocol import Conversation, Message
from muleteer.errors import MuleteerError, OverBudgetError, RequestError, TooLongError
from muleteer.harness import answer, constants, follower, measure, tool_agent
from muleteer.harness.brains import Brain, Lane
from muleteer.harness.dispatcher import Bridge, Dispatcher
from muleteer.harness.events import (
    CallUse,
    Emit,
    Event,
    Planned,
    TextDelta,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from muleteer.harness.exact import Audit, ExactLane
from muleteer.harness.ledger import Ledger
from muleteer.harness.planner import Planner
from muleteer.harness.scrub import Scrubber
from muleteer.harness.shortlist import Shortlist
from muleteer.harness.signals import BudgetExceeded, Plan, PlanSignal, ToolLoopHalt
from muleteer.harness.tool_agent import ToolAgent
from muleteer.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Status

log = logging.getLogger(__name__)

PLAN_ATTEMPTS = 3
REGENERATIONS = 2

FLOOR = "I am sorry, I found no answer to that."


class Harness:
    """The harness of one brain over one catalogue. Turns may run at the same time; the engine queues."""

    def __init__(self, brain: Brain, catalogue: Catalogue, budgets: Budgets) -> None:
        self.brain, self.catalogue, self.budgets = brain, catalogue, budgets
        self.audit = Audit()
        self._arrange()

    def _arrange(self) -> None:
        menu = self.catalogue.menu()
        self.planner = Planner(menu, self.budgets.planner_prompt)
        self.shortlist = Shortlist(menu)

    async def prepare(self) -> None:
        """Measure every static prompt and decode the planner's. Raises `ConfigError` when that cannot fit."""
        await self.measure()
        await self.warm()

    async def measure(self) -> int:
        """Disable by name what cannot fit; the tokens of the planner's prompt. Raises `ConfigError` when that
        cannot."""
        await measure.disable_what_cannot_fit(self.brain, self.catalogue, self.budgets)
        tokens = await measure.disable_until_menu_fits(self.brain, self.catalogue, self.budgets)
        self._arrange()
        return tokens

    async def warm(self) -> None:
        """Decode the planner's prompt, which every turn begins with; costs nothing where it is kept."""
        await self.brain.warm(self.planner.prompt(""))

    def prompts(self) -> dict[str, Conversation]:
        """Every static prompt by the name of its level, in the menu's order; see `constants`."""
        return constants.prompts(self.catalogue, self.planner)

    async def run(
        self, message: str, history: Sequence[Message] = (), background: bool = False
    ) -> AsyncGenerator[Event, None]:
        """The turn's events as they happen, `TurnStarted` first, `TurnFinished` or `TurnFailed` last.
        Closing the generator stops the turn and frees the engine. A background turn waits for all others."""
        events: asyncio.Queue[Event] = asyncio.Queue()
        lane = self.brain.lane(background)
        turn = asyncio.create_task(_Turn(self, lane, events.put_nowait).run(message, history))
        try:
            while True:
                event = await events.get()
                yield event
                if isinstance(event, TurnFinished | TurnFailed):
                    return
        finally:
            turn.cancel()
            await asyncio.wait([turn])


class _Turn:
    """The state of one turn: what was spent, called, said."""

    def __init__(self, harness: Harness, lane: Lane, emit: Emit) -> None:
        self.id = secrets.token_hex(8)
        self.lane = ExactLane(lane, self.id, harness.audit)
        self.began = time.monotonic()
        self.harness, self.emit = harness, emit
        self.ledger = Ledger(harness.budgets.turn, emit)
        self.agent = ToolAgent(self.lane, self.ledger, harness.budgets)
        self.writer = answer.Writer(self.lane, self.ledger, harness.budgets, harness.planner.handles)
        self.calls: list[CallUse] = []
        self.bridge = Bridge()
        self.plan = Plan((), 0.0)
        self.said = ""
        self.first_ms = 0.0

    async def run(self, message: str, history: Sequence[Message]) -> None:
        """Everything that can go wrong ends in exactly one terminal event."""
        self.emit(TurnStarted(self.id))
        try:
            await self._check(message)
            await self._within_budget(message, history)
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

    async def _within_budget(self, message: str, history: Sequence[Message]) -> None:
        """The attempts, under the turn's tokens and seconds. What was found before a stop is still said."""
        seconds = self.harness.budgets.seconds
        try:
            async with asyncio.timeout(seconds):
                await self._attempts(message, history)
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

    async def _execute(self, message: str) -> None:
        """One plan attempt: tools first, then the answer from what they returned."""
        catalogue = self.harness.catalogue
        tools = catalogue.expand(self.plan.handles)
        skills = [skill for handle in self.plan.handles if (skill := catalogue.skill(handle))]
        steps = "\n\n".join(skill.steps for skill in skills)
        dispatcher = Dispatcher(
            tools,
            self.agent,
            catalogue.toolbox.call,
            self.calls,
            self.emit,
            follower.in_order(steps),
            follower.each_once(steps),
        )
        self.bridge = dispatcher.bridge
        prose = ""
        try:
            if len(tools) == 1:
                await self._one_tool(dispatcher, tools[0].name, message)
            else:
                prompt = follower.opening(tools, steps, message)
                level = follower.Follower(self.lane, self.ledger, self.harness.budgets)
                prose = await level.follow(dispatcher, prompt)
        except ToolLoopHalt as stop:
            log.info("tool loop halted: %s", stop, extra={"turn": self.id})
        except TooLongError as error:
            if not self.bridge.results:
                raise
            log.warning("a skill ended early: %s", error, extra={"turn": self.id})
        await self._answer(message, prose)

    async def _one_tool(self, dispatcher: Dispatcher, tool: str, message: str) -> None:
        """A plan with one tool needs no follower: the message is the instruction. After an error the agent
        corrects its arguments; the dispatcher ends that."""
        instruction, tried = message, 0
        while True:
            control = await dispatcher.dispatch(tool, instruction)
            results = dispatcher.bridge.results
            if len(results) == tried or results[-1].status is not Status.ERROR:
                return
            tried = len(results)
            instruction = tool_agent.retry(message, control)

    async def _answer(self, message: str, prose: str) -> None:
        results = self.bridge.results
        if answer.needs_writing(results):
            async for piece in self.writer.from_facts(message, results):
                self._say(piece)
        if not self.said:
            self._say(answer.spoken(results))
        if not self.said:
            scrubber = Scrubber(self.harness.planner.handles)
            self._say(scrubber.feed(prose) + scrubber.finish())

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
