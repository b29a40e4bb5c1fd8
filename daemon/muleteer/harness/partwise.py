"""A message that is several requests: each planned and carried out like a message of its own.

Knows how a message may be cut (`compound.py`), plans and attempts. Nothing is left out without a word: what
cannot be done, or no longer, is said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from muleteer.harness import compound
from muleteer.harness.attempt import Attempt
from muleteer.harness.events import Planned
from muleteer.harness.record import Record
from muleteer.harness.signals import BudgetExceeded, Plan
from muleteer.skills import Catalogue


class Partwise:
    """`left` are the parts that are still to be carried out, with their plans; one without handles cannot
    be."""

    def __init__(self, catalogue: Catalogue, record: Record, attempt: Attempt) -> None:
        self._catalogue, self._record, self._attempt = catalogue, record, attempt
        self.left: list[tuple[str, Plan]] = []

    async def cut(self, message: str, language: str, planned: Callable[[str], Awaitable[Plan]]) -> bool:
        """Whether the message is several requests, by what its parts are `planned` to be."""
        parts: list[tuple[str, Plan]] = []
        for part in compound.parts(message, language):
            said, plan = part.said, await planned(part.said)
            same = bool(parts) and plan.handles == parts[0][1].handles
            if same and plan.handles and not self._repeatable(plan):
                return False
            if part.leaning and (same or not plan.handles):
                said, plan = part.leaning, await planned(part.leaning)
            if not plan.handles and not compound.missing(plan.confidence, part):
                return False
            parts.append((said, plan))
        able = [plan for _, plan in parts if plan.handles]
        if not able or (len(able) == 1 and self._catalogue.skill(able[0].handles[0])):
            return False
        if not compound.apart(able, [self._repeatable(plan) for plan in able]):
            return False
        self.left = parts
        return True

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
            if len(record.said) == before:
                record.say(record.words.left_out.format(part=said))
        record.plan = replace(record.plan, handles=tuple(handles))

    async def _run(self, said: str) -> None:
        try:
            await self._attempt.run(said)
        except BudgetExceeded:
            return  # and that nothing came of this part is said

    def _repeatable(self, plan: Plan) -> bool:
        """Whether its tool may be asked several things in one message: not where they may be one thing."""
        tool = self._catalogue.tool(plan.handles[0])
        return tool is not None and tool.effect != "write" and not tool.exact
