"""Judgement: does a message want any of the shipped tools at all? Call, or only answer.

The harness side is the planner; the flat side shows the model every shipped tool in its own template, and a
call of any of them counts as a call.
"""

from __future__ import annotations

from collections.abc import Sequence

from muleteer.engine.client import Engine
from muleteer.engine.protocol import Message, ToolSpec
from muleteer.errors import ConfigError
from muleteer.evaluate.batteries.battery import HARNESS, SIDES, Answered, Case
from muleteer.evaluate.batteries.calling import NO_LIMIT, flat_prompt, flat_reply
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.batteries.shipped import catalogue, data_text
from muleteer.harness.events import LevelUse
from muleteer.harness.ledger import Ledger
from muleteer.harness.planner import REPLY, Planner
from muleteer.harness.shortlist import Shortlist
from muleteer.harness.signals import PlanSignal

CALL, NONE = "call", "none"


class Judgement:
    """The battery; `lines` are messages with what they want."""

    name = "judgement"
    context = 8192  # all shipped tools in one prompt, and the planner's prompt beside it
    together = False

    def __init__(self, lines: Sequence[tuple[str, str]], sides: Sequence[str] = SIDES) -> None:
        found, _ = catalogue()
        menu = found.menu()
        self._planner, self._shortlist = Planner(menu, NO_LIMIT), Shortlist(menu)
        shown = [tool for tool in found.toolbox.tools.values() if not tool.hidden]
        self._tools = [ToolSpec(tool.name, tool.description, tool.parameters) for tool in shown]
        self.sides = tuple(sides)
        self.cases = [Case(message, wanted) for message, wanted in lines]
        self.digest = digest_of(f"{case.id}\t{case.group}" for case in self.cases)

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        flat = flat_prompt(self._tools, (Message("user", ""),))
        await engine.lane().warm(self._planner.prompt("") if side == HARNESS else flat)

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        ledger = Ledger(NO_LIMIT, lambda event: None)
        if side == HARNESS:
            got = await self._planned(engine, ledger, case.id)
        else:
            calls, _ = await flat_reply(engine, ledger, self._tools, (Message("user", case.id),))
            got = "+".join(name for name, _ in calls) or REPLY
        right = (got != REPLY) == (case.group == CALL)
        return Answered(right, got, "" if right else f"{case.group} was wanted"), ledger.levels

    async def _planned(self, engine: Engine, ledger: Ledger, message: str) -> str:
        try:
            await self._planner.plan(engine.lane(), ledger, message, (), self._shortlist.pick(message))
        except PlanSignal as signal:
            return "+".join(signal.plan.handles)
        return REPLY


def read() -> list[tuple[str, str]]:
    """The shipped messages."""
    lines = [line for line in data_text("judgement.tsv").splitlines() if line and not line.startswith("#")]
    found = [(message, wanted) for message, _, wanted in (line.partition("\t") for line in lines)]
    if wrong := [message for message, wanted in found if wanted not in (CALL, NONE)]:
        raise ConfigError(f"judgement.tsv has a line that says neither call nor none: {wrong[0]!r}.")
    return found
