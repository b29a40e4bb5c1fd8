"""One chat completion with a caller's tools, asked of whatever server speaks OpenAI's protocol.

Knows the protocol; neither of the servers. What was decoded is what the server says: llama.cpp's `timings`
where they are, else the prompt's tokens less the cached ones.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from muleteer.engine.protocol import Message, ToolSpec
from muleteer.errors import EngineError, RequestError
from muleteer.evaluate.batteries.bfcl import Call
from muleteer.harness.events import LevelUse

LIMIT = 400  # tokens of a reply, as in the batteries of calls
ASK_S = 30.0
GREEDY = {"temperature": 0, "top_k": 1, "max_tokens": LIMIT}


@dataclass(frozen=True, slots=True)
class Reply:
    """What was called, what was said beside it, what it used, and seconds of wall time."""

    calls: list[Call]
    text: str
    use: LevelUse


async def model_of(address: str) -> str:
    """What a server calls its model. Raises `EngineError` where it does not say."""
    try:
        async with httpx.AsyncClient(base_url=address, timeout=ASK_S, trust_env=False) as http:
            return str((await http.get("/v1/models")).json()["data"][0]["id"])
    except (httpx.HTTPError, LookupError, TypeError, ValueError) as error:
        raise EngineError(f"The server at {address} names no model: {error!r}.") from error


async def ask(
    http: httpx.AsyncClient, model: str, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> Reply:
    """One reply. Raises `RequestError` where the server refuses or takes longer than `http` waits, and
    `EngineError` where it is gone."""
    body = {
        "model": model,
        "messages": [{"role": each.role, "content": each.content} for each in messages],
        "tools": [{"type": "function", "function": _function(each)} for each in tools],
        **GREEDY,
    }
    began = time.perf_counter()
    try:
        response = await http.post("/v1/chat/completions", json=body)
    except httpx.ReadTimeout as error:
        raise RequestError(f"no answer within {http.timeout.read:g} seconds") from error
    except httpx.HTTPError as error:
        raise EngineError(f"The server does not answer: {error!r}.") from error
    seconds = time.perf_counter() - began
    if response.is_error:
        raise RequestError(f"refused ({response.status_code}): {response.text[:300]}")
    return reply_of(response.json(), seconds)


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def reply_of(found: Mapping[str, Any], seconds: float) -> Reply:
    """A reply from its JSON. A call whose arguments are no object is none. Raises `RequestError` for a reply
    of another form."""
    try:
        message = found["choices"][0]["message"]
        made = [call["function"] for call in message.get("tool_calls") or ()]
        calls = [(str(call["name"]), _arguments(call["arguments"])) for call in made]
        text = str(message.get("content") or "")
        return Reply([(n, a) for n, a in calls if a is not None], text, _use(found, seconds))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise RequestError(f"It is no chat completion: {error!r} in {str(found)[:300]}.") from error


def _arguments(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _use(found: Mapping[str, Any], seconds: float) -> LevelUse:
    usage = found["usage"]
    prompt, generated = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    decoded = int(found["timings"]["prompt_n"]) if "timings" in found else prompt - cached
    return LevelUse("endpoint", prompt, prompt - decoded, decoded, generated, seconds * 1000)
