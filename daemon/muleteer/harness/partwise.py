"""A message that is several requests: each planned and carried out like a message of its own.

Knows how a message may be cut (`compound.py`), plans and attempts. Nothing is left out without a word: what
cannot be done, or no longer, is said, and so is a request that a whole message's plan does not cover.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime

from muleteer.harness import compound
from muleteer.harness.attempt import Attempt
from muleteer.harness.events import Planned
from muleteer.harness.record import Record
from muleteer.harness.signals import BudgetExceeded, Plan
from muleteer.skills import Catalogue
from muleteer.when import names_time

Planner = Callable[[str], Awaitable[Plan]]


class Cutter:
    """Cuts one message by what its parts are planned to be. Each text is planned once, in however many cuts
    it is a part."""

    def __init__(self, catalogue: Catalogue, planned: Planner) -> None:
        self._catalogue, self._planned = catalogue, planned
        self._plans: dict[str, Plan] = {}
        self._finest: Sequence[compound.Part] = ()

    async def cut(self, message: str, language: str) -> list[tuple[str, Plan]]:
        """The requests that a message is, as many as there can be, with their plans; none where it is one."""
        found = compound.cuts(message, language)
        self._finest = found[0] if found else ()
        for parts in found:
            if requests := await self._requests(parts):
                return [each for said, plan in requests for each in self._calls(said, plan)]
        return await self._same(message) if compound.may_be_cut(message) else []

    async def _same(self, message: str) -> list[tuple[str, Plan]]:
        """The calls of one tool that a message is; none where it is one, or for something else."""
        if not any(tool.several and tool.several(message) for tool in self._catalogue.toolbox.tools.values()):
            return []
        calls = self._calls(message, await self._plan(message))
        return calls if len(calls) > 1 else []

    def _calls(self, said: str, plan: Plan) -> list[tuple[str, Plan]]:
        """What is said, for each call of its tool."""
        tool = self._catalogue.tool(plan.handles[0]) if len(plan.handles) == 1 else None
        each = tool.several(said) if tool and tool.several else ()
        return [(alone, plan) for alone in each or (said,)]

    async def uncovered(self, handles: Sequence[str]) -> list[str]:
        """The requests of a message that was not cut which its plan, of these handles, does not serve."""
        requests = [part.said for part in self._finest if self._may_be_one(part.said)]
        return [said for said in requests if not await self._covered(said, handles)]

    async def _requests(self, parts: Sequence[compound.Part]) -> list[tuple[str, Plan]]:
        """The parts with their plans, if each is a request of its own."""
        made: list[tuple[str, Plan]] = []
        for part in parts:
            said, plan = part.said, await self._plan(part.said)
            same = bool(made) and plan.handles == made[0][1].handles
            if same and plan.handles and not self._repeatable(plan, said):
                return []
            if part.leaning and (same or not plan.handles):
                said, plan = part.leaning, await self._plan(part.leaning)
            if not plan.handles and not compound.missing(plan.confidence, part):
                return []
            made.append((said, plan))
        able = [(said, plan) for said, plan in made if plan.handles]
        plans = [plan for _, plan in able]
        if not able or (len(able) == 1 and self._catalogue.skill(plans[0].handles[0])):
            return []
        return made if compound.apart(plans, [self._repeatable(plan, said) for said, plan in able]) else []

    async def _plan(self, said: str) -> Plan:
        if said not in self._plans:
            self._plans[said] = await self._planned(said)
        return self._plans[said]

    def _may_be_one(self, said: str) -> bool:
        """Whether a part may be a request, by its words or by the plan that was made for it."""
        known = self._plans.get(said)
        return compound.is_request(said) or compound.orders(said) or bool(known and known.handles)

    async def _covered(self, said: str, handles: Sequence[str]) -> bool:
        """Whether a plan of these handles serves a part, or the part is no request of its own: it is one
        where its words say so, and where it is surely for something that changes the world."""
        plan, asked = await self._plan(said), compound.is_request(said)
        if not plan.handles:
            return not (asked and handles and plan.confidence >= compound.CANNOT)
        wanted = self._catalogue.expand(plan.handles)
        deed = any(tool.effect != "read" for tool in wanted)
        if plan.confidence < compound.SURE or not (asked or deed or compound.orders(said)):
            return True
        return any(tool in wanted for tool in self._catalogue.expand(handles))

    def _repeatable(self, plan: Plan, said: str) -> bool:
        """Whether its tool may be asked several things in one message: not where they may be one thing, which
        two orders with a time each are not."""
        tool = self._catalogue.tool(plan.handles[0])
        if tool is not None and tool.settled:
            return compound.orders(said) and names_time(said, datetime.now())
        return tool is not None and tool.effect != "write" and not tool.exact


class Partwise:
    """`left` are the parts that are still to be carried out, with their plans; one without handles cannot
    be."""

    def __init__(self, cutter: Cutter, record: Record, attempt: Attempt) -> None:
        self._cutter, self._record, self._attempt = cutter, record, attempt
        self.left: list[tuple[str, Plan]] = []

    async def cut(self, message: str, language: str) -> bool:
        """Whether the message is several requests."""
        self.left = await self._cutter.cut(message, language)
        return bool(self.left)

    async def carry_out(self) -> None:
        """What is left, part by part, what came of each on a line of its own."""
        record, handles = self._record, dict.fromkeys(self._record.plan.handles)
        while self.left:
            said, plan = self.left.pop(0)
            if record.said:
                record.say("\n")
            before = len(record.said)
            record.plan = plan
            if plan.handles and not record.ledger.withdrawn:
                record.emit(Planned(plan.handles, round(plan.confidence, 4), 1))
                await self._run(said)
                handles |= dict.fromkeys(plan.handles)
            if not plan.handles:
                record.say(record.words.beyond.format(part=said))
            elif len(record.said) == before:
                self._left_out(said)
        record.plan = replace(record.plan, handles=tuple(handles))

    async def say_uncovered(self) -> None:
        """Say which requests of a message that was not cut its one plan was not made for."""
        for said in await self._cutter.uncovered(self._record.plan.handles):
            self._record.say("\n")
            self._left_out(said)

    def _left_out(self, said: str) -> None:
        self._record.say(self._record.words.left_out.format(part=said))

    async def _run(self, said: str) -> None:
        try:
            await self._attempt.run(said)
        except BudgetExceeded:
            return  # and that nothing came of this part is said
