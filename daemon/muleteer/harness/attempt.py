"""One plan, carried out: tools first, then the answer from what they returned.

    handles -> tools -> steps by code | one tool: L3 alone | several: L2 -> dispatcher -> L3 -> tool -> answer

Knows one plan. Does not know how it was made, nor what comes when it gives nothing; `turn.py` does.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from muleteer.errors import BrainError, TooLongError
from muleteer.harness import answer, follower, orders, steps
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.brains import Lane
from muleteer.harness.claims import any_claim
from muleteer.harness.confirmation import Pause, Pending
from muleteer.harness.dispatcher import Dispatcher, Gate, Sources
from muleteer.harness.phrases import tools_table
from muleteer.harness.record import Record
from muleteer.harness.scrub import Scrubber
from muleteer.harness.signals import BudgetExceeded, ConfirmSignal, ToolLoopHalt
from muleteer.harness.sourced import Sourced
from muleteer.harness.tool_agent import Agent, ToolAgent
from muleteer.harness.verbatim import Verbatim
from muleteer.sentences import translated
from muleteer.skills import Skill
from muleteer.tool import Result, Status
from muleteer.toolbox import Outcome, Tool

log = logging.getLogger(__name__)


class Attempt:
    """The plan in `record`, over what is arranged. `gate` sees every call before it runs. `told` is
    what the user told before (`sourced.told_before`)."""

    def __init__(self, arranged: Arrangement, lane: Lane, record: Record, gate: Gate) -> None:
        self._catalogue, self._handles = arranged.catalogue, arranged.planner.handles
        self._lane, self._record, self._gate = lane, record, gate
        self._agent: Agent = ToolAgent(lane, record.ledger, arranged.budgets)
        self._follower = follower.Follower(lane, record.ledger, arranged.budgets)
        self._writer = answer.Writer(
            lane, record.ledger, arranged.budgets, self._handles, told=arranged.instructions
        )
        self.told: tuple[str, ...] = ()

    async def run(self, message: str) -> None:
        """Carry the plan out, and say what came of it; nothing, where nothing did."""
        record, handles = self._record, self._record.plan.handles
        tools = self._catalogue.expand(handles)
        skills = [skill for handle in handles if (skill := self._catalogue.skill(handle))]
        if budgets := [skill.budget for skill in skills if skill.budget]:
            record.ledger.narrow(sum(budgets))
        dispatcher = self._dispatcher(tools, skills, message)
        record.bridge = dispatcher.bridge
        run, prose = steps.how(handles, skills, tools), ""
        try:
            prose = await self._call(run, skills, tools, dispatcher, message)
        except ConfirmSignal as signal:
            signal.pause = Pause(dispatcher, run, tuple(skills), signal.tools, signal.written, signal.heard)
            raise
        except ToolLoopHalt as stop:
            log.info("tool loop halted: %s", stop, extra={"turn": record.id})
        except (TooLongError, BudgetExceeded) as stop:
            if not record.bridge.results:
                raise
            log.warning("a plan ended early: %s", stop, extra={"turn": record.id})
        if run == "all":
            record.say(answer.listed(record.bridge.results))
        else:
            await self._answer(message, prose)

    async def go_on(self, pending: Pending, yes: bool) -> None:
        """Exactly the call that was asked about, or none; after a yes the rest of the plan; then what all of
        it returned."""
        tool, pause, record = pending.tool, pending.pause, self._record
        dispatcher = pause.dispatcher if pause else self._dispatcher([tool], (), pending.message)
        dispatcher = dispatcher.rebound(self._agent, record.calls, record.emit, self._gate)
        record.bridge = dispatcher.bridge
        results, prose = record.bridge.results, ""
        if not pause:
            results += pending.results
        if not yes:
            results.append(Result.ok(record.words.declined.format(tool=tool.name)))
        elif self._catalogue.tool(tool.handle) != tool:
            results.append(Result.error(record.words.changed.format(tool=tool.name)))
        else:
            control = await dispatcher.confirmed(tool, pending.arguments)
            prose = await self._rest(pause, dispatcher, control, pending.message) if pause else ""
        if answer.needs_writing(results):
            await self._answer(pending.message, prose)
        else:
            record.say(answer.listed(results))

    async def _rest(self, pause: Pause, dispatcher: Dispatcher, control: str, message: str) -> str:
        """What follows the call that a yes was given to; L2's closing words. Another call may need a yes."""
        try:
            if pause.run == "first" and self._record.found():
                self._record.bridge.results[:] = self._record.bridge.results[-1:]
            elif pause.tools:
                await steps.carry_out(pause.run, pause.skills, pause.tools, dispatcher, message)
            return await self._followed_on(pause, dispatcher, control)
        except ConfirmSignal as signal:
            signal.pause = replace(
                pause,
                dispatcher=dispatcher,
                tools=signal.tools,
                written=signal.written,
                heard=signal.heard,
            )
            raise
        except (BrainError, ToolLoopHalt, TooLongError, BudgetExceeded) as stop:
            log.warning("a plan ended early: %s", stop, extra={"turn": self._record.id})
        return ""

    async def _followed_on(self, pause: Pause, dispatcher: Dispatcher, control: str) -> str:
        """What L2 does after the call that it had to wait for; its closing words."""
        if pause.written:
            return await self._follower.go_on(dispatcher, *pause.written, control)
        return ""

    def _dispatcher(self, tools: Sequence[Tool], skills: Sequence[Skill], message: str) -> Dispatcher:
        record, text = self._record, _steps(skills)
        sourced = Sourced(message, text, record.found, record.words, self.told)
        alone = len(tools) == 1 and not skills  # then the message is for nothing else
        sources: Sources = Verbatim(sourced, lambda: (message, *self.told)) if alone else sourced
        return Dispatcher(
            tools,
            self._agent,
            self._called,
            record.calls,
            record.emit,
            follower.in_order(text),
            follower.each_once(text),
            self._gate,
            lambda tool, arguments: orders.refusal(
                tool, arguments, message, text, record.found(), record.words
            ),
            {tool.name: text.count(f"@{tool.handle}") for tool in tools},
            sources,
        )

    async def _called(self, name: str, arguments: Mapping[str, object]) -> Outcome:
        """A tool's call, and what it says in the user's language."""
        outcome = await self._catalogue.toolbox.call(name, arguments)
        text = translated(outcome.result.text, tools_table(self._record.words.language))
        return replace(outcome, result=replace(outcome.result, text=text))

    async def _call(
        self,
        run: str,
        skills: Sequence[Skill],
        tools: Sequence[Tool],
        dispatcher: Dispatcher,
        message: str,
    ) -> str:
        """Every call of the plan, by the level that it needs; L2's closing words, if it had any."""
        if run:
            await steps.carry_out(run, skills, tools, dispatcher, message)
            return ""
        if len(tools) == 1:
            await steps.ask_tool(dispatcher, tools[0].name, message)
            return ""
        return await self._follow(skills, tools, dispatcher, message)

    async def _follow(
        self, skills: Sequence[Skill], tools: Sequence[Tool], dispatcher: Dispatcher, message: str
    ) -> str:
        """L2, for a plan that needs one."""
        return await self._follower.follow(dispatcher, follower.opening(tools, _steps(skills), message))

    async def _answer(self, message: str, prose: str) -> None:
        """From what was found, written where it must be; what was not found or could not be looked at is said
        by code alone, so that no model turns the one into the other."""
        record, results = self._record, self._record.bridge.results
        acted, before = record.acted(self._catalogue.toolbox.tools), len(record.said)
        found = [result for result in results if result.status is Status.OK]
        if answer.needs_writing(found):
            async for piece in self._writer.from_facts(message, found, acted):
                record.say(piece if len(record.said) > before else answer.attributed(piece, found))
        if len(record.said) == before:
            record.say(answer.spoken(results))
        elif rest := answer.spoken([result for result in results if result.status is not Status.OK]):
            record.say(f" {rest}")
        if len(record.said) == before:
            scrubber = Scrubber(self._handles)
            words = scrubber.feed(prose) + scrubber.finish()
            record.say(record.words.not_done if any_claim(words) and not acted else words)


def _steps(skills: Sequence[Skill]) -> str:
    return "\n\n".join(skill.steps for skill in skills)
