"""L3 on a free brain: one tool, its schema and craft rules, one call, no memory.

The arguments are checked under the schema by code; what is wrong with them goes back in a short text, a few
times. What cannot be read never becomes a call without arguments.
"""

from __future__ import annotations

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.harness.brains import Said
from muleteer.harness.free.listening import Listener, corrected
from muleteer.harness.free.schema import wrong_with
from muleteer.harness.prompts import render
from muleteer.settings.sections import Budgets
from muleteer.toolbox import Tool

# Corrections of one call. A model that has read twice what is wrong with it will not find it.
CORRECTIONS = 2


def prompt(tool: Tool, instruction: str) -> Conversation:
    """The constant part (preamble, craft, schema) first, the instruction last."""
    system = render("free_agent", craft=tool.craft).strip()
    return Conversation(
        (Message("system", system), Message("user", instruction)),
        (ToolSpec(tool.name, tool.description, tool.parameters),),
        constant=1,
    )


class FreeToolAgent:
    """Writes arguments; it neither runs the tool nor sees the conversation."""

    def __init__(self, listener: Listener, budgets: Budgets) -> None:
        self._listener, self._budgets = listener, budgets

    async def arguments(self, tool: Tool, instruction: str) -> dict[str, object] | None:
        """The arguments of the call, valid under the tool's schema, or None where none could be had. A tool
        without parameters costs nothing."""
        if not tool.parameters.get("properties"):
            return {}
        conversation = prompt(tool, instruction)
        for left in range(CORRECTIONS, -1, -1):
            said = await self._listener.hear(f"agent:{tool.name}", conversation, self._budgets.agent_output)
            arguments, fault = _read(tool, said)
            if arguments is not None:
                return arguments
            if left:
                wrong = render("free_arguments", fault=fault, tool=tool.name)
                conversation = corrected(conversation, said, wrong)
        return None


def _read(tool: Tool, said: Said) -> tuple[dict[str, object] | None, str]:
    """The arguments of the first call, or why there are none. The only tool is meant, whatever it was called.
    A call whose text ended within a value may look something up, and not act on it."""
    if not said.calls:
        return None, "there was none"
    call = said.calls[0]
    if call.fault or call.arguments is None:
        return None, call.fault or "its arguments could not be read"
    if call.closed and tool.effect != "read":
        return None, "it ended in the middle of a value"
    fault = wrong_with(call.arguments, tool.parameters)
    return (None, fault) if fault else (call.arguments, "")
