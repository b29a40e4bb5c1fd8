"""Conversations in the form that one chat template can take.

What a template cannot do (system role, tools, calls, tool results, several messages of one role in a row) is
found by trying it, and put in plain words instead. Works on text with slots; knows nothing of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import jinja2

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.engine.template import Slots, Template
from muleteer.errors import EngineError

Turn = dict[str, object]

TOOL_WORDS = (
    "You may call {which} to help with the user's request:\n{tools}\n"
    'To call it, reply with one JSON object: {{"name": <function name>, "arguments": <arguments object>}}'
)
CALL_WORDS = '{{"name": "{name}", "arguments": {arguments}}}'
RESULT_WORDS = "Result of the call:\n"
CLOSED_THOUGHT = re.compile(r"<think>\s*</think>\s*$")  # a template's own way to say: no thinking
NO_THOUGHT = "\n\n</think>\n\n"  # closes a thought that a template opened, as Qwen3 was trained to see it
PROBE = ToolSpec("probe", "Probes.", {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a template can render."""

    system: bool
    tools: bool
    calls: bool
    results: bool
    runs: bool


class Turns:
    """One template and what it can do."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self.able = _try_out(template)

    def text(self, slots: Slots, conversation: Conversation) -> str:
        """The prompt with slots in it, up to where the reply continues. Raises `EngineError` when the
        template refuses the conversation."""
        turns = self._turns(slots, conversation.messages, conversation.tools)
        opened = self._render(slots, turns, conversation.tools, reply=True)
        if opened.rstrip().endswith("<think>"):
            opened = opened.rstrip() + NO_THOUGHT
        if conversation.begin_call:
            return self._begin_call(slots, turns, conversation.tools, opened)
        return opened + slots.put(conversation.begin)

    def constant_text(self, slots: Slots, conversation: Conversation) -> str:
        """What all conversations with this constant part begin with if a user message follows it."""
        messages = (*conversation.messages[: conversation.constant], Message("user", "?"))
        turns = self._turns(slots, messages, conversation.tools)
        text = self._render(slots, turns, conversation.tools, reply=False)
        return text[: max(0, text.rfind(slots.put("?")))]

    def after_reply(self, slots: Slots) -> str:
        """What follows the assistant's text: it says how a turn ends."""
        turns = self._turns(slots, (Message("user", "?"), Message("assistant", "!")), ())
        text = self._render(slots, turns, (), reply=False)
        return text.rpartition(slots.put("!", own=True))[2]

    def _begin_call(self, slots: Slots, turns: list[Turn], tools: Sequence[ToolSpec], opened: str) -> str:
        """What the template writes before the arguments of a call is how this model calls."""
        if len(tools) != 1:
            raise EngineError("A prompt that begins a call needs the tool to call, and no other.")
        call = self._turn(slots, Message("assistant", "", ((tools[0].name, "{}"),)))
        written = self._render(slots, [*turns, call], tools, reply=False)
        before = written[: written.rfind(slots.put_arguments("{}"))]
        for head in (opened, CLOSED_THOUGHT.sub("", opened)):  # some templates close a thought in calls, too
            if before.startswith(head):
                return opened + before[len(head) :]
        return before

    def _render(self, slots: Slots, turns: list[Turn], tools: Sequence[ToolSpec], *, reply: bool) -> str:
        shown = [slots.open(_described(tool)) for tool in tools] if self.able.tools else []
        try:
            return self._template.render(slots, turns, shown, reply=reply)
        except jinja2.TemplateError as error:
            raise EngineError(f"The model's chat template refuses this conversation: {error}") from error

    def _turns(self, slots: Slots, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[Turn]:
        turns = _answering([self._turn(slots, message) for message in messages])
        if tools and not self.able.tools:
            words = TOOL_WORDS.format(
                which="this function" if len(tools) == 1 else "these functions",
                tools="\n".join(slots.json(_described(tool)) for tool in tools),
            )
            if turns and turns[0]["role"] == "system":
                turns[0] = {"role": "system", "content": f"{turns[0]['content']}\n\n{words}"}
            else:
                turns.insert(0, {"role": "system", "content": words})
        if turns and turns[0]["role"] == "system" and not self.able.system:
            first = {"role": "user", "content": turns[0]["content"]}
            turns = _merged([first, *turns[1:2]]) + turns[2:]
        return turns if self.able.runs else _merged(turns)

    def _turn(self, slots: Slots, message: Message) -> Turn:
        content = slots.put(message.content, own=message.role == "assistant")
        if message.role == "tool" and not self.able.results:
            return {"role": "user", "content": RESULT_WORDS + content}
        if not message.calls:
            return {"role": message.role, "content": content}
        calls = [(slots.put(name), slots.put_arguments(arguments)) for name, arguments in message.calls]
        if self.able.calls:
            return _call_turn(content, calls)
        written = "\n".join(CALL_WORDS.format(name=name, arguments=arguments) for name, arguments in calls)
        return {"role": "assistant", "content": f"{content}\n{written}" if content else written}


def _call_turn(content: str, calls: Sequence[tuple[str, str]]) -> Turn:
    made = [
        {"id": f"call{i:05}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def _answering(turns: list[Turn]) -> list[Turn]:
    """Results with the id and name of the call that each one answers, which some templates write."""
    open_calls: list[Any] = []
    for turn in turns:
        if turn["role"] == "assistant":
            open_calls = list(cast("list[Any]", turn.get("tool_calls", [])))
        elif turn["role"] == "tool" and open_calls:
            call = open_calls.pop(0)
            turn |= {"tool_call_id": call["id"], "name": call["function"]["name"]}
    return turns


def _described(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _merged(turns: list[Turn]) -> list[Turn]:
    """Neighbours of one role as one message, for templates that insist on taking turns."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"] and "tool_calls" not in turn | merged[-1]:
            merged[-1] = {"role": turn["role"], "content": f"{merged[-1]['content']}\n\n{turn['content']}"}
        else:
            merged.append(turn)
    return merged


def _try_out(template: Template) -> Abilities:
    slots = Slots()
    system, user, other = slots.put("S"), slots.put("U"), slots.put("V")
    arguments = slots.put_arguments("{}")

    def rendered(turns: list[Turn], tool: ToolSpec | None = None) -> str:
        """What the template makes of it; nothing when it refuses."""
        try:
            return template.render(slots, turns, [_described(tool)] if tool else [], reply=False)
        except jinja2.TemplateError:
            return ""

    def result(role: str) -> str:
        answer: Turn = {"role": role, "content": other, "name": "probe", "tool_call_id": "call00000"}
        return rendered([asked, call, answer], PROBE)

    asked: Turn = {"role": "user", "content": user}
    call = _call_turn("", [("probe", arguments)])
    calls = arguments in rendered([asked, call], PROBE)
    if not calls:
        call = {"role": "assistant", "content": "C"}
    result_text, echoed = result("tool"), result("zebra").replace("zebra", "tool")
    run = rendered([asked, {"role": "user", "content": other}])
    return Abilities(
        system=system in rendered([{"role": "system", "content": system}, asked]),
        tools=rendered([asked]) != rendered([asked], PROBE) != "",
        calls=calls,
        results=other in result_text and result_text != echoed,
        runs=user in run and other in run,
    )
