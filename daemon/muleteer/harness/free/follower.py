"""L2 on a free brain: a fresh conversation with the plan, the steps and the signatures, and one real tool.

`call_tool(tool, instruction)` is answered in the same conversation, which only grows. The dispatcher keeps
discipline: unknown names get the real ones, repeats are refused, and `ToolLoopHalt` ends it. Sees no schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.harness.brains import Said
from muleteer.harness.dialects.calls import ToolCall
from muleteer.harness.dispatcher import Dispatcher
from muleteer.harness.free.listening import Heard, Listener, corrected
from muleteer.harness.prompts import render
from muleteer.harness.signals import ConfirmSignal, ToolLoopHalt
from muleteer.settings.sections import Budgets
from muleteer.toolbox import Tool

NO_STEPS = "Use the tools that the request needs."

# Replies that are no usable call, in a row. Two corrections help a small model; the next is a loop.
CORRECTIONS = 2

# Replies of one attempt. Steps have up to a dozen calls; beyond that a brain goes in circles.
ROUNDS = 16

# Characters of an instruction: a sentence or two for L3.
INSTRUCTION = 600

_NAME = "call_tool"


def opening(tools: Sequence[Tool], steps: str, message: str, rationale: str) -> Conversation:
    """The first prompt. Preamble, steps and signatures are constant; the request and the plan come last."""
    shown = [tool for tool in tools if not tool.hidden]
    signatures = "\n".join(f"- {tool.signature}" for tool in shown)
    system = render("free_follower", steps=steps.strip() or NO_STEPS, signatures=signatures)
    request = render("free_request", message=message, rationale=rationale) if rationale else message
    return Conversation((Message("system", system), Message("user", request)), (_spec(shown),), constant=1)


def _spec(tools: Sequence[Tool]) -> ToolSpec:
    """No `enum` of names: a wrong one is answered by the dispatcher, with the real ones."""
    return ToolSpec(
        _NAME,
        "Reach one of your tools: say in plain words what you want from it.",
        {
            "type": "object",
            "properties": {
                "tool": {"type": "string", "description": f"one of {', '.join(t.name for t in tools)}"},
                "instruction": {"type": "string", "description": "what you want, with every name and number"},
            },
            "required": ["tool", "instruction"],
            "additionalProperties": False,
        },
    )


class FreeFollower:
    """One plan attempt's L2."""

    def __init__(self, listener: Listener, budgets: Budgets) -> None:
        self._listener, self._budgets = listener, budgets

    async def follow(self, dispatcher: Dispatcher, tools: Sequence[Tool], prompt: Conversation) -> str:
        """Calls until L2 answers in prose, which is returned. Raises `ToolLoopHalt` when a limit trips."""
        names = [tool.name for tool in tools if not tool.hidden]
        wrong = 0
        for _ in range(ROUNDS):
            said = await self._listener.hear("follower", prompt, self._budgets.answer_output)
            fault = _fault(said, names, dispatcher.asked)
            if fault:
                wrong += 1
                if wrong > CORRECTIONS:
                    return said.text if not said.calls and dispatcher.asked else ""
                prompt = corrected(prompt, said, fault)
            elif said.calls:
                wrong = 0
                prompt = await self._call(dispatcher, Heard(prompt, said, (), tuple(tools)))
            else:
                return said.text
        raise ToolLoopHalt(f"a skill took more than {ROUNDS} steps")

    async def go_on(self, dispatcher: Dispatcher, heard: Heard, control: str) -> str:
        """`follow` from a call on that had to wait for a yes; `control` is what it gave."""
        heard = replace(heard, results=(*heard.results, control))
        return await self.follow(dispatcher, heard.tools, await self._call(dispatcher, heard))

    async def _call(self, dispatcher: Dispatcher, heard: Heard) -> Conversation:
        """Every call of the reply that was not made yet, one after the other, and what each gave."""
        prompt, said, results = heard.prompt, heard.said, list(heard.results)
        names = [tool.name for tool in heard.tools if not tool.hidden]
        for call in said.calls[len(results) :]:
            tool, instruction = _asked(call, names)
            try:
                results.append(await dispatcher.dispatch(tool, instruction))
            except ConfirmSignal as signal:
                signal.heard = replace(heard, results=tuple(results))
                raise
        if note := self._listener.note():
            results[-1] = f"{results[-1]}\n{note}"
        told = [Message("tool", each) for each in results]
        made = tuple((call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in said.calls)
        return Conversation(
            (*prompt.messages, Message("assistant", said.text, made), *told), prompt.tools, prompt.constant
        )


def _fault(said: Said, names: Sequence[str], asked: bool) -> str:
    """Why this reply neither calls nor ends; nothing where it does."""
    listed = ", ".join(names)
    for call in said.calls:
        if call.fault or call.arguments is None:
            return render("free_call", fault=call.fault or "its arguments could not be read", tools=listed)
        if not _asked(call, names)[0]:
            return render("free_call", fault="it named no tool", tools=listed)
    if not said.calls and not asked:
        return render("free_narrated", tools=listed)
    return ""


def _asked(call: ToolCall, names: Sequence[str]) -> tuple[str, str]:
    """The tool and the instruction. A call of a tool by its own name is one of `call_tool`, and what it gave
    as arguments is what it wants; L3 writes them anew, under the schema."""
    arguments = call.arguments or {}
    if call.name == _NAME or (call.name not in names and "tool" in arguments):
        rest = {key: value for key, value in arguments.items() if key not in ("tool", "instruction")}
        tool, said = arguments.get("tool"), arguments.get("instruction") or _plain(rest)
        return (tool if isinstance(tool, str) else ""), str(said)[:INSTRUCTION]
    return call.name, _plain(arguments)[:INSTRUCTION]


def _plain(arguments: Mapping[str, object]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in arguments.items())
