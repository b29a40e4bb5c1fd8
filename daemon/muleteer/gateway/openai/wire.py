"""From the body of a chat completion to an `Ask`. Pure: this file says what of OpenAI's format is taken.

What would be silently wrong is refused with its place; what only bears on sampling is taken and has no
effect, since decoding is greedy: the likeliest token, always.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, get_args

from muleteer.engine.protocol import JsonSchema, ToolSpec
from muleteer.gateway.reading import Node
from muleteer.gateway.requests import SESSION, WRONG_SESSION
from muleteer.harness.guests.ask import MOST_CALLS, Ask, Called, Choice, Said

MOST_MESSAGES = 2048  # of one request; of more than a context holds the oldest are left out, and counted
MOST_TOOLS = 128  # as many as OpenAI takes
MOST_STOPS = 4  # as many as OpenAI takes
LONGEST_STOP = 256  # characters
MOST_PARTS = 256  # of one message
MOST_TOOL_CALLS = 64  # of one message
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ANY_OBJECT: JsonSchema = {"type": "object", "additionalProperties": True}

# What is read below, and what has no effect here: sampling, accounting, hints to other people's servers.
READ = """model messages tools tool_choice parallel_tool_calls response_format stop max_tokens
    max_completion_tokens stream stream_options metadata"""
WITHOUT_EFFECT = """temperature top_p top_k min_p typical_p seed frequency_penalty presence_penalty
    repetition_penalty user safety_identifier prompt_cache_key prompt_cache_retention store service_tier
    reasoning_effort verbosity cache_prompt"""
TAKEN = frozenset(f"{READ} {WITHOUT_EFFECT}".split())
# What would change the reply and is not done here: only these values, which ask for nothing, are taken.
NOTHING: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "functions": ([],),
    "function_call": ("none",),
}
INSTEAD = {
    "n": "one reply is written to each request.",
    "logprobs": "no probabilities are given.",
    "top_logprobs": "no probabilities are given.",
    "functions": "send `tools`, which took its place.",
    "function_call": "send `tool_choice`, which took its place.",
    "modalities": "text alone is written.",
    "logit_bias": "tokens cannot be weighed.",
}
UNREADABLE = {"image_url": "Pictures", "input_audio": "Sounds", "file": "Files"}


@dataclass(frozen=True, slots=True)
class Completion:
    """What is asked, for which model, and how it shall be told."""

    ask: Ask
    model: str
    stream: bool
    include_usage: bool


def completion(body: Node, guest: str = "") -> Completion:
    """Raises `WrongError`."""
    _known(body)
    model = body.need("model").text()
    named, choice = _choice(body)
    tools = tuple(map(_tool, body.get("tools").each(MOST_TOOLS))) if body.has("tools") else ()
    if (named or choice == "required") and not tools:
        raise body.get("tool_choice").wrong("needs `tools` to choose from.")
    parallel = body.get("parallel_tool_calls").boolean() if body.has("parallel_tool_calls") else True
    options = body.get("stream_options")
    ask = Ask(
        messages=tuple(map(_said, body.need("messages").each(MOST_MESSAGES))),
        tools=tools,
        choice=choice,
        named=named,
        calls=MOST_CALLS if parallel and not named else 1,
        schema=_schema(body.get("response_format")) if body.has("response_format") else None,
        stop=_stops(body.get("stop")) if body.has("stop") else (),
        limit=_limit(body),
        guest=guest,
        session=_session(body.get("metadata")) if body.has("metadata") else "",
    )
    return Completion(
        ask,
        model,
        body.has("stream") and body.get("stream").boolean(),
        body.has("stream_options")
        and options.has("include_usage")
        and options.get("include_usage").boolean(),
    )


def _known(body: Node) -> None:
    for key in body.names():
        value = body.get(key)
        if key in TAKEN or value.value is None:
            continue
        if key not in NOTHING:
            raise value.wrong("is no parameter that is known here; leave it out.", "unknown_parameter")
        if value.value not in NOTHING[key]:
            raise value.wrong(f"is not supported: {INSTEAD[key]}", "unsupported_parameter")


def _limit(body: Node) -> int | None:
    key = "max_completion_tokens" if body.has("max_completion_tokens") else "max_tokens"
    return body.get(key).number(1) if body.has(key) else None


def _stops(node: Node) -> tuple[str, ...]:
    stops = [node] if isinstance(node.value, str) else node.each(MOST_STOPS)
    for stop in stops:
        if not 0 < len(stop.text()) <= LONGEST_STOP:
            raise stop.wrong(f"must have 1 to {LONGEST_STOP} characters.")
    return tuple(stop.text() for stop in stops)


def _session(node: Node) -> str:
    """The conversation's name, where `metadata` has one."""
    if not node.has("session"):
        return ""
    name = node.get("session").text()
    if not re.fullmatch(SESSION, name):
        raise node.get("session").wrong(f"is wrong: {WRONG_SESSION}")
    return name


def _choice(body: Node) -> tuple[str, Choice]:
    """The name of the tool that must be called, if one must; and whether any is."""
    node = body.get("tool_choice")
    if node.value is None:
        return "", "auto"
    if isinstance(node.value, str):
        return "", cast(Choice, node.one_of(*get_args(Choice)))
    if node.need("type").one_of("function", "allowed_tools") == "allowed_tools":
        raise node.wrong("cannot be allowed_tools; send only the tools that are allowed.")
    return node.need("function").need("name").text(), "required"


def _tool(node: Node) -> ToolSpec:
    node.need("type").one_of("function")
    function = node.need("function")
    name = function.need("name")
    if not NAME.fullmatch(name.text()):
        raise name.wrong("must have 1 to 64 letters, digits, _ and -.")
    description = function.get("description").text() if function.has("description") else ""
    parameters = function.get("parameters").fields() if function.has("parameters") else {}
    return ToolSpec(name.text(), description, parameters or {"type": "object", "properties": {}})


def _schema(node: Node) -> JsonSchema | None:
    kind = node.need("type").one_of("text", "json_object", "json_schema")
    if kind == "json_schema":
        given = node.need("json_schema")
        return given.get("schema").fields() if given.has("schema") else ANY_OBJECT
    return ANY_OBJECT if kind == "json_object" else None


def _said(node: Node) -> Said:
    role = node.need("role").one_of("system", "developer", "user", "assistant", "tool")
    calls: tuple[Called, ...] = ()
    if role == "assistant":
        if node.has("function_call"):
            raise node.get("function_call").wrong(
                "is not supported: send `tool_calls`, which took its place."
            )
        if node.has("tool_calls"):
            calls = tuple(map(_call, node.get("tool_calls").each(MOST_TOOL_CALLS)))
    content = _content(node.get("content")) if node.has("content") or not calls else ""
    answers = node.need("tool_call_id").text() if role == "tool" else ""
    if role == "tool":
        return Said("tool", content, answers=answers)
    if role == "assistant":
        return Said("assistant", content, calls)
    return Said("user" if role == "user" else "system", content)


def _content(node: Node) -> str:
    """A text, or the text parts of a list, joined."""
    if node.value is None:
        raise node.wrong("is missing.", "missing_required_parameter")
    return node.text() if isinstance(node.value, str) else _joined(node.each(MOST_PARTS))


def _joined(parts: Sequence[Node]) -> str:
    texts: list[str] = []
    for part in parts:
        kind = part.need("type").text()
        if kind in UNREADABLE:
            raise part.wrong(f"is not text. {UNREADABLE[kind]} cannot be read here; send text.")
        key = "refusal" if kind == "refusal" else "text"
        if kind not in ("text", "refusal"):
            raise part.get("type").wrong("must be 'text'.")
        texts.append(part.need(key).text())
    return "\n".join(texts)


def _call(node: Node) -> Called:
    if node.has("type"):
        node.get("type").one_of("function")
    function = node.need("function")
    given = function.get("arguments")
    arguments = json.dumps(given.value) if isinstance(given.value, dict) else given.text()
    return Called(function.need("name").text(), arguments, node.need("id").text())
