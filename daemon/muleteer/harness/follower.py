"""L2: carries out one plan with the tools in reach, one call at a time.

Sees the skill's steps and one signature line a tool, never a schema. Its only tool is `call_tool`; ending
is a call too ("finish"), so every step is decoded under one small schema and none can be prose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from muleteer.engine.protocol import Conversation, Message, Text, ToolSpec
from muleteer.harness.brains import Lane
from muleteer.harness.clip import clipped
from muleteer.harness.dispatcher import Dispatcher
from muleteer.harness.ledger import Ledger
from muleteer.harness.prompts import render
from muleteer.harness.signals import ConfirmSignal
from muleteer.settings.sections import Budgets
from muleteer.skills import Skill
from muleteer.toolbox import Tool

FINISH = "finish"

# Characters of a control line that still say what became of a call: its status and a few words.
SHORTEST_CONTROL = 40

_MENTION = re.compile(r"@[a-z0-9-]+")
_NUMBERED = re.compile(r"^1[.)]\s", re.MULTILINE)
_NO_STEPS = "Use the tools that the request needs, then finish."


def opening(tools: Sequence[Tool], steps: str, request: str) -> Conversation:
    """The first prompt: preamble, steps and signatures are constant, the request comes last."""
    shown = [tool for tool in tools if not tool.hidden]
    signatures = "\n".join(f"- {tool.signature}" for tool in shown)
    system = render("follower", steps=steps.strip() or _NO_STEPS, signatures=signatures)
    spec = ToolSpec("call_tool", "Reach one of your tools.", schema([*(tool.name for tool in shown), FINISH]))
    return Conversation(
        (Message("system", system), Message("user", request)), tools=(spec,), constant=1, begin_call=True
    )


def follows(skill: Skill, tools: Sequence[Tool]) -> bool:
    """Whether this skill alone needs a follower: not for one tool, nor where code carries out the steps."""
    return len(tools) > 1 and not skill.run


def in_order(steps: str) -> bool:
    """Whether the tools are to be taken in the order of the steps: a numbered list is a sequence, a bulleted
    one a choice. A list within a list says nothing."""
    return bool(_NUMBERED.search(steps))


def each_once(steps: str) -> bool:
    """Whether no step mentions what another one does: then nothing is left when each was done."""
    mentions = _MENTION.findall(steps)
    return len(mentions) == len(set(mentions))


def next_step(dispatcher: Dispatcher) -> dict[str, object]:
    """The schema of L2's next call: an open tool, or the end once something was asked for. The end takes no
    words where a tool has said something already, since that is the answer."""
    names = dispatcher.open_tools()
    if not dispatcher.asked:
        return schema(names)
    if not any(result.text.strip() for result in dispatcher.bridge.results):
        return schema([*names, FINISH])
    end = {
        "type": "object",
        "properties": {"tool": {"const": FINISH}},
        "required": ["tool"],
        "additionalProperties": False,
    }
    return {"anyOf": [schema(names), end]}


def schema(names: Sequence[str]) -> dict[str, object]:
    """The arguments of `call_tool` when only these may be named."""
    return {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "enum": list(names)},
            "instruction": {"type": "string", "description": "what you want from it, in plain words"},
        },
        "required": ["tool", "instruction"],
        "additionalProperties": False,
    }


class Follower:
    def __init__(self, lane: Lane, ledger: Ledger, budgets: Budgets) -> None:
        self._lane, self._ledger, self._budgets = lane, ledger, budgets

    async def follow(self, dispatcher: Dispatcher, prompt: Conversation) -> str:
        """Calls until L2 finishes, or no tool may be asked for any more; its closing sentence.

        The prompt only grows: results are appended and nothing is rebuilt. What may not happen cannot be
        written: the decoder's schema has no tool that is used up, and no `finish` before the first call,
        since a plan was made because tools are needed. Raises `ToolLoopHalt` when a limit trips.
        """
        while dispatcher.open_tools():
            written = await self._lane.fill(
                prompt,
                next_step(dispatcher),
                limit=self._ledger.allow(self._budgets.follower_output),
                prompt_limit=self._budgets.follower_prompt,
            )
            self._ledger.book("follower", written.use)
            if written.finish != "stop":
                return ""
            step = json.loads(written.text)
            if step["tool"] == FINISH:
                return str(step.get("instruction", ""))
            try:
                control = await dispatcher.dispatch(step["tool"], step["instruction"])
            except ConfirmSignal as signal:
                signal.written = (prompt, written)
                raise
            prompt = await self._grow(prompt, written, control)
        return ""

    async def go_on(self, dispatcher: Dispatcher, prompt: Conversation, written: Text, control: str) -> str:
        """`follow` from a call on that had to wait for a yes."""
        return await self.follow(dispatcher, await self._grow(prompt, written, control))

    async def _grow(self, prompt: Conversation, call: Text, control: str) -> Conversation:
        """The prompt with one more call and its result, which is cut until half of the room that was left is
        left for what follows. Where even the shortest is too long, the engine refuses with both counts."""
        most = (call.use.prompt + self._budgets.follower_prompt) // 2
        limit, note = len(control), self._ledger.note()
        while True:
            grown = _grown(prompt, call.text, f"{clipped(control, limit)} {note}".rstrip())
            if limit <= SHORTEST_CONTROL or await self._lane.count(grown) <= most:
                return grown
            limit //= 2


def _grown(prompt: Conversation, call: str, control: str) -> Conversation:
    messages = (*prompt.messages, Message("assistant", "", (("call_tool", call),)), Message("tool", control))
    return Conversation(messages, prompt.tools, prompt.constant, begin_call=True)
