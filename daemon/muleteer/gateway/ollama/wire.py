"""From a body of Ollama's format to an `Ask`. Pure: this file says what of the format is taken.

What would be silently wrong is refused. What has no effect here, since there is one model and its likeliest
token is taken always, is accepted; what a client may rely on and does not get is a warning in the last
object.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from muleteer.engine.protocol import JsonSchema, ToolSpec
from muleteer.gateway.reading import Node
from muleteer.harness.guests.ask import Ask, Called, Said

MOST_MESSAGES = 2048  # of one request; of more than a context holds the oldest are left out, and counted
MOST_TOOLS = 128  # a home with many exposed scripts has some fifty
MOST_STOPS = 16
LONGEST_STOP = 256  # characters
ANY_OBJECT: JsonSchema = {"type": "object", "additionalProperties": True}
NAME = re.compile(r"[a-zA-Z0-9_.:-]{1,128}")

COMMON = """model stream format options keep_alive think truncate shift logprobs top_logprobs"""
CHAT = frozenset(f"messages tools {COMMON}".split())
GENERATE = frozenset(f"prompt system suffix template context raw images {COMMON}".split())
# Of the options: sampling, of which there is none, and how a model is loaded, which is a setting here.
WITHOUT_EFFECT = """seed temperature top_k top_p min_p tfs_z typical_p repeat_last_n repeat_penalty
    presence_penalty frequency_penalty mirostat mirostat_tau mirostat_eta penalize_newline num_keep numa
    num_batch num_gpu main_gpu low_vram f16_kv logits_all vocab_only use_mmap use_mlock embedding_only
    num_thread"""
IGNORED = frozenset(f"{WITHOUT_EFFECT} stop".split())
NO_EFFECT = "{} is not known here and has no effect."
NUM_CTX = (
    "options.num_ctx is {wanted}, but the context here has {context} tokens; what does not fit into those is "
    "refused, or counted as dropped."
)
TRUNCATE = "{} is false, but the oldest messages are left out all the same where not all fit, and counted."
ENDLESS = (-1, -2)  # of num_predict: no limit of the client's


@dataclass(frozen=True, slots=True)
class Options:
    """What `options` says that has an effect."""

    limit: int | None = None
    stop: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """What a request wants. Without an `ask` it only wants the model loaded, or with `unload` gone."""

    model: str
    stream: bool
    ask: Ask | None
    unload: bool = False
    warnings: tuple[str, ...] = ()


def chat(body: Node, context: int, guest: str = "") -> Wish:
    """`context` is ours, in tokens. Raises `WrongError`."""
    options = _options(body, context)
    messages, dropped = _messages(body.get("messages").each(MOST_MESSAGES) if body.has("messages") else [])
    tools = tuple(map(_tool, body.get("tools").each(MOST_TOOLS))) if body.has("tools") else ()
    ask = Ask(
        messages=messages,
        tools=tools,
        schema=_schema(body),
        stop=options.stop,
        limit=options.limit,
        guest=guest,
    )
    warnings = (*_unknown(body, CHAT), *options.warnings, *dropped)
    return _wish(body, ask if messages else None, warnings)


def generate(body: Node, context: int, guest: str = "") -> Wish:
    """As `chat`; a prompt is one message."""
    for key, instead in {
        "suffix": "Text cannot be filled in here.",
        "template": "The model's own template is used; send messages to /api/chat.",
        "context": "Send the conversation as messages to /api/chat.",
        "images": "Pictures cannot be read here.",
    }.items():
        if body.get(key).value not in (None, "", []):
            raise body.get(key).wrong(f"is not supported. {instead}")
    if body.has("raw") and body.get("raw").boolean():
        raise body.get("raw").wrong("is not supported: a prompt is always put into the model's template.")
    options = _options(body, context)
    prompt = body.get("prompt").text() if body.has("prompt") else ""
    system = body.get("system").text() if body.has("system") else ""
    said = (*((Said("system", system),) if system else ()), Said("user", prompt))
    ask = Ask(messages=said, schema=_schema(body), stop=options.stop, limit=options.limit, guest=guest)
    return _wish(body, ask if prompt else None, (*_unknown(body, GENERATE), *options.warnings))


def named(body: Node) -> str:
    """The model that a request names. Raises `WrongError`."""
    return body.need("model" if body.has("model") or not body.has("name") else "name").text()


def _wish(body: Node, ask: Ask | None, warnings: tuple[str, ...]) -> Wish:
    stream = not body.has("stream") or body.get("stream").boolean()
    if body.get("think").value not in (None, False):
        raise body.get("think").wrong("cannot be on: models do not think aloud here.")
    if body.get("logprobs").value not in (None, False) or body.get("top_logprobs").value not in (None, 0):
        raise body.get("logprobs").wrong("is not supported: no probabilities are given.")
    unload = ask is None and _is_zero(body.get("keep_alive").value)
    return Wish(named(body), stream, ask, unload, warnings)


def _is_zero(keep_alive: object) -> bool:
    """Whether it is a time of nothing: 0, "0", "0s"."""
    if isinstance(keep_alive, str):
        return re.fullmatch(r"0+(\.0+)?(ns|us|µs|ms|s|m|h)?", keep_alive.strip()) is not None
    return keep_alive == 0 and not isinstance(keep_alive, bool)


def _unknown(body: Node, known: frozenset[str]) -> tuple[str, ...]:
    """What of the body is without effect, though a client may rely on it."""
    unknown = [NO_EFFECT.format(key[:80]) for key in body.names() if key not in known]
    return (
        *unknown,
        *(TRUNCATE.format(key) for key in ("truncate", "shift") if body.get(key).value is False),
    )


def _options(body: Node, context: int) -> Options:
    if not body.has("options"):
        return Options()
    node, warnings = body.get("options"), list[str]()
    limit: int | None = None
    for key in node.names():
        if not node.has(key) or key in IGNORED:
            continue
        if key == "num_predict":
            wanted = _whole(node.get(key))
            limit = None if wanted in ENDLESS else Node(wanted, node.get(key).at).number(1)
        elif key == "num_ctx":
            if (wanted := _whole(node.get(key))) > context:
                warnings.append(NUM_CTX.format(wanted=wanted, context=context))
        else:
            warnings.append(NO_EFFECT.format(f"options.{key[:80]}"))
    return Options(limit, _stops(node.get("stop")) if node.has("stop") else (), tuple(warnings))


def _whole(node: Node) -> int:
    """A whole number, also one that was written with a point, as from a number field of a page."""
    value = node.value
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    return Node(value, node.at).number(-(2**31))


def _stops(node: Node) -> tuple[str, ...]:
    stops = [node] if isinstance(node.value, str) else node.each(MOST_STOPS)
    for stop in stops:
        if not 0 < len(stop.text()) <= LONGEST_STOP:
            raise stop.wrong(f"must have 1 to {LONGEST_STOP} characters.")
    return tuple(stop.text() for stop in stops)


def _schema(body: Node) -> JsonSchema | None:
    node = body.get("format")
    if node.value in (None, ""):
        return None
    if isinstance(node.value, dict):
        return node.fields()
    node.one_of("json")
    return ANY_OBJECT


def _tool(node: Node) -> ToolSpec:
    if node.has("type"):
        node.get("type").one_of("function")
    function = node.need("function")
    name = function.need("name")
    if not NAME.fullmatch(name.text()):
        raise name.wrong("must have 1 to 128 letters, digits, _ . : and -.")
    description = function.get("description").text() if function.has("description") else ""
    parameters = function.get("parameters").fields() if function.has("parameters") else {}
    if not parameters.get("properties"):
        parameters = {"type": "object", "properties": {}}
    return ToolSpec(name.text(), description, parameters)


def _messages(nodes: Sequence[Node]) -> tuple[tuple[Said, ...], tuple[str, ...]]:
    """The conversation, and what was left out of it. Clients that shorten it cut between calls and results:
    what lost its other half before the user's last message is left out."""
    last = max((i for i, node in enumerate(nodes) if node.get("role").value == "user"), default=-1)
    found: list[Said] = []
    waiting: list[Called] = []
    warnings: list[str] = []
    for i, node in enumerate(nodes):
        said = _said(node, i)
        if said.role == "tool":
            call = _answered(node, waiting)
            if call is None and i < last:
                warnings.append(f"{node.at} was left out: it is the result of no call.")
                continue
            if call is not None:
                waiting.remove(call)
                said = replace(said, answers=call.id)
        elif said.role != "system" and waiting:
            lost = frozenset(call.id for call in waiting)
            found = [replace(each, calls=_kept(each.calls, lost)) for each in found]
            warnings.append(f"{len(waiting)} calls before {node.at} were left out: they have no result.")
            waiting = []
        waiting += said.calls
        found.append(said)
    return tuple(found), tuple(warnings)


def _kept(calls: Sequence[Called], lost: frozenset[str]) -> tuple[Called, ...]:
    return tuple(call for call in calls if call.id not in lost)


def _answered(node: Node, waiting: Sequence[Called]) -> Called | None:
    """The call that a tool's message is the result of: by its id or name, else the one that waits longest."""
    if node.has("tool_call_id"):
        wanted = node.get("tool_call_id").text()
        fits = [call for call in waiting if call.id == wanted]
    else:
        name = node.get("tool_name").text() if node.has("tool_name") else ""
        fits = [call for call in waiting if name in ("", call.name)]
    return fits[0] if fits else None


def _said(node: Node, place: int) -> Said:
    if node.has("images") and node.get("images").value != []:
        raise node.get("images").wrong("cannot be read here; send text.")
    role = node.need("role").text()
    content = node.get("content").text() if node.has("content") else ""
    match role:
        case "assistant":
            given = node.get("tool_calls").each(MOST_TOOLS) if node.has("tool_calls") else []
            return Said(
                "assistant", content, tuple(_call(call, f"{place}.{i}") for i, call in enumerate(given))
            )
        case "system" | "user" | "tool":
            return Said(role, content)
    raise node.get("role").wrong("must be one of 'system', 'user', 'assistant', 'tool'.")


def _call(node: Node, place: str) -> Called:
    function = node.need("function")
    arguments = function.get("arguments").fields() if function.has("arguments") else {}
    number = node.get("id").text() if node.has("id") else place
    return Called(function.need("name").text(), json.dumps(arguments, ensure_ascii=False), number)
