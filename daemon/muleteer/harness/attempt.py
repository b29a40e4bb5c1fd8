"""One plan, carried out: tools first, then the answer from what they returned.

    handles -> tools -> steps by code | one tool: L3 alone | several: L2 -> dispatcher -> L3 -> tool -> answer

Knows one plan. Does not know how it was made, nor what comes when it gives nothing; `turn.py` does.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from muleteer.errors import TooLongError
from muleteer.harness import answer, follower, orders, steps
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.brains import Lane
from muleteer.harness.claims import CORRECTION, claims
from muleteer.harness.confirmation import Pending
from muleteer.harness.dispatcher import Dispatcher, Gate
from muleteer.harness.record import Record
from muleteer.harness.scrub import Scrubber
from muleteer.harness.signals import ToolLoopHalt
from muleteer.harness.tool_agent import ToolAgent
from muleteer.skills import Skill
from muleteer.tool import Result
from muleteer.toolbox import Tool

log = logging.getLogger(__name__)


class Attempt:
    """The plan in `record`, over what is arranged. `gate` sees every call before it runs."""

    def __init__(self, arranged: Arrangement, lane: Lane, record: Record, gate: Gate) -> None:
        self._catalogue, self._handles = arranged.catalogue, arranged.planner.handles
        self._lane, self._record, self._gate = lane, record, gate
        self._budgets = arranged.budgets
        self._agent = ToolAgent(lane, record.ledger, arranged.budgets)
        self._writer = answer.Writer(lane, record.ledger, arranged.budgets, self._handles)

    async def run(self, message: str) -> None:
        """Carry the plan out, and say what came of it; nothing, where nothing did."""
        record, handles = self._record, self._record.plan.handles
        tools = self._catalogue.expand(handles)
        skills = [skill for handle in handles if (skill := self._catalogue.skill(handle))]
        text = "\n\n".join(skill.steps for skill in skills)
        if budgets := [skill.budget for skill in skills if skill.budget]:
            record.ledger.narrow(sum(budgets))
        dispatcher = self._dispatcher(tools, text, message)
        record.bridge = dispatcher.bridge
        run, prose = steps.how(handles, skills, tools), ""
        try:
            prose = await self._call(run, skills, tools, dispatcher, text, message)
        except ToolLoopHalt as stop:
            log.info("tool loop halted: %s", stop, extra={"turn": record.id})
        except TooLongError as error:
            if not record.bridge.results:
                raise
            log.warning("a skill ended early: %s", error, extra={"turn": record.id})
        if run == "all":
            record.say(answer.listed(record.bridge.results))
        else:
            await self._answer(message, prose)

    async def go_on(self, pending: Pending, yes: bool) -> None:
        """Exactly the call that was asked about, or none; then what it and those before it returned."""
        tool = pending.tool
        dispatcher = Dispatcher(
            [tool], self._agent, self._catalogue.toolbox.call, self._record.calls, self._record.emit
        )
        self._record.bridge = dispatcher.bridge
        results = dispatcher.bridge.results
        results += pending.results
        if not yes:
            results.append(Result.ok(f"As you wish: {tool.name} was not called."))
        elif self._catalogue.tool(tool.handle) != tool:
            results.append(
                Result.error(f"{tool.name} has been changed since you were asked, so it was not called.")
            )
        else:
            await dispatcher.call(tool, pending.arguments)
        self._record.say(answer.listed(results))

    def _dispatcher(self, tools: Sequence[Tool], text: str, message: str) -> Dispatcher:
        return Dispatcher(
            tools,
            self._agent,
            self._catalogue.toolbox.call,
            self._record.calls,
            self._record.emit,
            follower.in_order(text),
            follower.each_once(text),
            self._gate,
            lambda tool, arguments: orders.refusal(tool, arguments, message, text, self._record.found()),
            {tool.name: text.count(f"@{tool.handle}") for tool in tools},
        )

    async def _call(
        self,
        run: str,
        skills: Sequence[Skill],
        tools: Sequence[Tool],
        dispatcher: Dispatcher,
        text: str,
        message: str,
    ) -> str:
        """Every call of the plan, by the level that it needs; L2's closing words, if it had any."""
        if run:
            await steps.carry_out(run, skills, tools, dispatcher, message)
            return ""
        if len(tools) == 1:
            await steps.ask_tool(dispatcher, tools[0].name, message)
            return ""
        level = follower.Follower(self._lane, self._record.ledger, self._budgets)
        return await level.follow(dispatcher, follower.opening(tools, text, message))

    async def _answer(self, message: str, prose: str) -> None:
        record, results = self._record, self._record.bridge.results
        acted = record.acted(self._catalogue.toolbox.tools)
        if answer.needs_writing(results):
            async for piece in self._writer.from_facts(message, results, acted):
                record.say(piece if record.said else answer.attributed(piece, results))
        if not record.said:
            record.say(answer.spoken(results))
        if not record.said:
            scrubber = Scrubber(self._handles)
            words = scrubber.feed(prose) + scrubber.finish()
            record.say(CORRECTION if claims(words) and not acted else words)
