"""L3: one tool, its full schema, its craft rules, one call, no memory.

Writes arguments; it neither runs the tool nor sees the conversation. The arguments are decoded under the
schema, so they are valid or there are none.
"""

from __future__ import annotations

import json
from typing import Protocol

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.harness.brains import Lane
from muleteer.harness.ledger import Ledger
from muleteer.harness.prompts import render
from muleteer.settings.sections import Budgets
from muleteer.toolbox import Tool


def prompt(tool: Tool, instruction: str) -> Conversation:
    """The constant part (preamble, craft, schema) first, the instruction last."""
    return Conversation(
        messages=(
            Message("system", render("agent", craft=tool.craft).strip()),
            Message("user", instruction),
        ),
        tools=(ToolSpec(tool.name, tool.description, tool.parameters),),
        constant=1,
        begin_call=True,
    )


def retry(instruction: str, control: str) -> str:
    """The instruction again, with what went wrong."""
    return render("agent_retry", instruction=instruction, error=control.removeprefix("error: "))


class Agent(Protocol):
    """L3, on whatever brain: the arguments of one call, or None where none could be had."""

    async def arguments(self, tool: Tool, instruction: str) -> dict[str, object] | None: ...


class ToolAgent:
    def __init__(self, lane: Lane, ledger: Ledger, budgets: Budgets) -> None:
        self._lane, self._ledger, self._budgets = lane, ledger, budgets

    async def arguments(self, tool: Tool, instruction: str) -> dict[str, object] | None:
        """The arguments of the call, or None if they did not fit the output budget. A tool without
        parameters costs nothing."""
        if not tool.parameters.get("properties"):
            return {}
        written = await self._lane.fill(
            prompt(tool, instruction),
            tool.parameters,
            limit=self._ledger.allow(self._budgets.agent_output),
            prompt_limit=self._budgets.agent_prompt,
        )
        self._ledger.book(f"agent:{tool.name}", written.use)
        if written.finish != "stop":
            return None
        arguments: dict[str, object] = json.loads(written.text)
        return arguments
