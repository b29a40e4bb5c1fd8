"""OpenAI's chat completions, as data: a conversation in, the pieces of a streamed reply out.

Pure. Knows the format and its usual variations; not HTTP. What a server sends is bounded here, and whatever
is not of the format raises `ValueError` with a sentence that quotes nothing of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from muleteer.engine.protocol import Conversation, Message, ToolSpec, Use

Finish = Literal["stop", "length", "repetition"]

MOST_CALLS = 32  # in one reply; nobody means more, and each costs a place in memory
LONGEST_NAME = 128  # characters of a tool's name; OpenAI allows 64
# Characters of text or of arguments a token may stand for: runs of blanks reach dozens, a language never. A
# server that goes on beyond `limit` tokens times this does not keep to the limit.
CHARACTERS_PER_TOKEN = 24
ENOUGH = 4096  # characters that are always allowed


def body(
    conversation: Conversation,
    model: str,
    limit: int,
    stop: Sequence[str],
    without: frozenset[str] = frozenset(),
) -> dict[str, object]:
    """The JSON of a request. `without` are optional parameters that this server refuses."""
    wanted: dict[str, object] = {
        "messages": _messages(conversation.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": limit,
        "temperature": 0,
    }
    if model:
        wanted["model"] = model
    if conversation.tools:
        wanted["tools"] = [_tool(tool) for tool in conversation.tools]
    if stop:
        wanted["stop"] = list(stop)
    if "max_tokens" in without:
        wanted["max_completion_tokens"] = limit
    return {key: value for key, value in wanted.items() if key not in without}


OPTIONAL = frozenset(("stream_options", "max_tokens", "temperature", "stop"))


def _messages(messages: Sequence[Message]) -> list[dict[str, object]]:
    """Calls are numbered through the conversation; a result belongs to the oldest call without one."""
    found: list[dict[str, object]] = []
    open_calls: list[str] = []
    number = 0
    for message in messages:
        entry: dict[str, object] = {"role": message.role, "content": message.content}
        if message.calls:
            calls = []
            for name, arguments in message.calls:
                number += 1
                open_calls.append(f"call_{number}")
                function = {"name": name, "arguments": arguments}
                calls.append({"id": open_calls[-1], "type": "function", "function": function})
            entry["tool_calls"] = calls
        if message.role == "tool" and open_calls:
            entry["tool_call_id"] = open_calls.pop(0)
        found.append(entry)
    return found


def _tool(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


@dataclass
class RawCall:
    """A call as it arrives: its name and the text of its arguments."""

    name: str = ""
    arguments: str = ""


class ServerFaultError(ValueError):
    """The server says, in its stream, that it failed."""


@dataclass
class Reply:
    """One reply that is being read. `limit` is in tokens. `begun`: something of the answer has come. With
    `single` it is read up to its first whole call; `enough` when anything comes after that."""

    limit: int
    single: bool = False
    finish: Finish | None = None
    use: Use | None = None
    calls: list[RawCall] = field(default_factory=list)
    begun: bool = False
    enough: bool = False
    alive: int = 0  # pieces of anything the model wrote, thoughts included
    _ids: list[str] = field(default_factory=list)
    _places: dict[int | str, int] = field(default_factory=dict)
    _size: int = 0

    def feed(self, data: str) -> str:
        """The prose in one event's data."""
        return self.take(_object(data), "delta")

    def whole(self, data: str) -> str:
        """The prose of an answer that was not streamed, though it was asked for."""
        prose = self.take(_object(data), "message")
        if self.finish is None:
            raise ValueError("its answer has no choice that is finished")
        return prose

    def take(self, event: Mapping[str, Any], part: str) -> str:
        if event.get("error"):
            raise ServerFaultError("it says that it failed")
        if isinstance(usage := event.get("usage"), Mapping):
            self.use = _use(usage)
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices:
            return ""
        choice = choices[0]
        if not isinstance(choice, Mapping) or not isinstance(piece := choice.get(part) or {}, Mapping):
            raise ValueError("a choice of it is no object")
        text = self._text(piece.get("content"))
        calls = piece.get("tool_calls") or ()
        if not isinstance(calls, list | tuple):
            raise ValueError("its tool calls are no list")
        if self.single and text.strip() and self._has_whole_call():
            self.enough = True
            return ""
        for call in calls:
            self._call(call)
        self.alive += bool(text or calls or piece.get("reasoning_content") or piece.get("reasoning"))
        self.begun = self.begun or bool(text or calls)
        if reason := choice.get("finish_reason"):
            self.finish = "length" if reason == "length" else "stop"
        return text

    @property
    def overlong(self) -> bool:
        """Whether more came than any model can say in so many tokens."""
        return self._size > ENOUGH + self.limit * CHARACTERS_PER_TOKEN

    @property
    def estimated(self) -> int:
        """Tokens of what came, where the server does not count them: about four characters each."""
        return -(-self._size // 4)

    def _has_whole_call(self) -> bool:
        """Whether the first call has ended, as far as its text tells."""
        try:
            return bool(self.calls) and isinstance(json.loads(self.calls[0].arguments or "0"), dict)
        except (ValueError, RecursionError):
            return False

    def _text(self, content: object) -> str:
        if content is None:
            return ""
        if not isinstance(content, str):
            raise ValueError("its content is no text")
        self._size += len(content)
        return content

    def _call(self, piece: object) -> None:
        if not isinstance(piece, Mapping) or not isinstance(function := piece.get("function"), Mapping):
            raise ValueError("a tool call of it is no object")
        place = self._place(piece)
        if self.enough:
            return
        call = self.calls[place]
        name, arguments = function.get("name") or "", function.get("arguments") or ""
        if isinstance(arguments, Mapping):  # as Ollama's own format has them
            arguments = json.dumps(arguments)
        if not isinstance(name, str) or not isinstance(arguments, str):
            raise ValueError("a tool call of it has no text for its name or arguments")
        call.name = name[:LONGEST_NAME] or call.name
        call.arguments += arguments
        self._size += len(arguments)

    def _place(self, piece: Mapping[str, Any]) -> int:
        """Which call a piece belongs to: by its index, else by its id, else the last one, unless it names a
        tool and so begins another. An index that comes again with another id begins another, too."""
        index, id = piece.get("index"), piece.get("id")
        key = index if isinstance(index, int) and not isinstance(index, bool) else id
        known = self._places.get(key) if isinstance(key, int | str) else None
        if known is None and key is None and self.calls and not piece["function"].get("name"):
            known = len(self.calls) - 1
        if known is not None and (not isinstance(id, str) or not id or self._ids[known] in ("", id)):
            return known
        if self.single and self._has_whole_call():
            self.enough = True
            return 0
        if len(self.calls) == MOST_CALLS:
            raise ValueError(f"it makes more than {MOST_CALLS} tool calls at once")
        self.calls.append(RawCall())
        self._ids.append(id if isinstance(id, str) else "")
        if isinstance(key, int | str):
            self._places[key] = len(self.calls) - 1
        return len(self.calls) - 1


def refused_parameter(data: bytes) -> str:
    """The optional parameter that an error 400 is about, or nothing."""
    try:
        error = _object(data.decode()).get("error")
    except ValueError:
        return ""
    if not isinstance(error, Mapping):
        return ""
    said = f"{error.get('param') or ''} {error.get('message') or ''}"
    return next((name for name in sorted(OPTIONAL) if name in said), "")


def _object(data: str) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("it sent what is no JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it sent JSON that is no object")
    return found


def _use(usage: Mapping[str, Any]) -> Use:
    """Counts of a server; what it does not say is nothing."""
    details = usage.get("prompt_tokens_details")
    reused = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    prompt, generated = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    reused = min(reused, prompt)
    return Use(prompt, reused, prompt - reused, generated, generated)


def _count(counts: Mapping[str, Any], key: str) -> int:
    value = counts.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0
