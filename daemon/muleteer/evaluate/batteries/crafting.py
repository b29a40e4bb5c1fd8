"""Crafting: the tool is given, the message is given; are the arguments right? Checked by code.

What is wanted of each argument is a list of texts, any of which will do (compared without case, articles and
punctuation at the ends), or for a sum the number it must come to. What is not wanted must be left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from muleteer import paths
from muleteer.catalogue.loading import Library
from muleteer.engine.client import Engine
from muleteer.engine.protocol import Message, ToolSpec
from muleteer.evaluate.batteries.battery import HARNESS, SIDES, Answered, Case
from muleteer.evaluate.batteries.calling import NO_LIMIT, flat_prompt, flat_reply
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.batteries.shipped import ROOT, catalogue, data_text, read_lines
from muleteer.harness import tool_agent
from muleteer.harness.events import LevelUse
from muleteer.harness.ledger import Ledger
from muleteer.harness.tool_agent import ToolAgent
from muleteer.settings.sections import Budgets
from muleteer.tool import Result, Status
from muleteer.toolbox import Tool

ARTICLE = re.compile(r"^(?:the|a|an|my|der|die|das|den|in|at|on|for)\s+")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
CLOSE = 1e-6  # relative: tools round what they say to about so many digits

Want = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Craft:
    """One case: which tool, what is said, and what is wanted of each argument."""

    tool: str
    message: str
    want: Want


class Crafting:
    """The battery. Both sides know which tool it is; the flat one writes the whole call freely."""

    name = "crafting"
    context = 4096
    together = False

    def __init__(self, cases: Sequence[Craft], sides: Sequence[str] = SIDES) -> None:
        self._toolbox = catalogue()[0].toolbox
        self.sides = tuple(sides)
        self._crafts = {f"{craft.tool}: {craft.message}": craft for craft in cases}
        self.cases = [Case(id, craft.tool) for id, craft in self._crafts.items()]
        self.digest = digest_of([data_text("crafting.jsonl"), *self._crafts])

    def _tool(self, case: Case) -> Tool:
        return self._toolbox.tools[self._crafts[case.id].tool]

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        tool, lane = self._tool(case), engine.lane()
        prompt = tool_agent.prompt(tool, "") if side == HARNESS else flat_prompt([_spec(tool)], _said(""))
        await lane.warm(prompt)

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        craft, tool = self._crafts[case.id], self._tool(case)
        ledger = Ledger(NO_LIMIT, lambda event: None)
        arguments: Mapping[str, object] | None
        if side == HARNESS:
            arguments = await ToolAgent(engine.lane(), ledger, Budgets()).arguments(tool, craft.message)
        else:
            calls, _ = await flat_reply(engine, ledger, [_spec(tool)], _said(craft.message))
            arguments = calls[0][1] if len(calls) == 1 and calls[0][0] == tool.name else None
        why = complaint(craft, arguments)
        return Answered(not why, "" if arguments is None else str(dict(arguments)), why), ledger.levels


def read() -> list[Craft]:
    """The shipped cases."""
    return read_lines("crafting.jsonl", lambda data: Craft(data["tool"], data["message"], data["want"]))


def complaint(craft: Craft, arguments: Mapping[str, object] | None) -> str:
    """Why the arguments are not what is wanted; empty when they are."""
    if arguments is None:
        return "no call"
    for name, accepted in craft.want.items():
        given = arguments.get(name, "")
        if isinstance(accepted, dict):
            if (found := _value(str(given))) is None or not math.isclose(
                found, accepted["value"], rel_tol=CLOSE
            ):
                return f"{name} comes to {found}, not {accepted['value']}"
        elif plain(str(given)) not in {plain(str(each)) for each in accepted}:
            return f"{name} should be {' or '.join(repr(each) for each in accepted)}"
    surplus = [name for name, value in arguments.items() if name not in craft.want and value != ""]
    return f"{surplus[0]} was not asked for" if surplus else ""


def plain(text: str) -> str:
    """A text as it is compared."""
    words = " ".join(text.casefold().split()).strip(" .,;:!?\"'")
    return ARTICLE.sub("", words)


def _value(expression: str) -> float | None:
    """What the shipped calculator makes of an expression; None where it can make nothing of it."""
    result = _calculator()(expression=expression)
    if not isinstance(result, Result) or result.status is not Status.OK:
        return None
    numbers = NUMBER.findall(result.text.rpartition("=")[2])
    return float(numbers[0].replace(",", "")) if numbers else None


@cache
def _calculator() -> Callable[..., object]:
    return Library(paths.tool_folders()[:ROOT]).read().things["calculator"].function


def _spec(tool: Tool) -> ToolSpec:
    return ToolSpec(tool.name, tool.description, tool.parameters)


def _said(message: str) -> tuple[Message, ...]:
    return (Message("user", message),)
