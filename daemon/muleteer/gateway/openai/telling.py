"""Replies, pieces of replies and errors in the words of OpenAI's format. Pure.

`muleteer` is a field of our own: the turn's id, its ledger by level, and what could not be honoured.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from muleteer.errors import (
    EngineBusyError,
    LoadingError,
    ModelError,
    MuleteerError,
    TooLongError,
    TooManyError,
)
from muleteer.gateway import faults
from muleteer.gateway.guests import End, Part, TurnError, Usage
from muleteer.gateway.reading import WrongError
from muleteer.gateway.replies import EVENT_STREAM, RETRY_SECONDS
from muleteer.harness.guests.ask import MisplacedError, Wanted

Json = dict[str, Any]
DONE = b"data: [DONE]\n\n"

TOO_LONG = "context_length_exceeded"


@dataclass(frozen=True, slots=True)
class Head:
    """What is the same in every piece of a reply; `created` in seconds since 1970."""

    id: str
    created: int
    model: str

    @classmethod
    def new(cls, created: float, model: str) -> Head:
        return cls(f"chatcmpl-{secrets.token_hex(12)}", int(created), model)

    def fields(self, kind: str) -> Json:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


class Teller:
    """Says one reply. With `include_usage`, the last piece of a stream tells it, as the others say that they
    do not."""

    headers: Final = EVENT_STREAM

    def __init__(self, head: Head, include_usage: bool) -> None:
        self._head, self._usage = head, include_usage
        self._calls = 0

    def whole(self, text: str, calls: Sequence[Wanted], end: End) -> Json:
        message: Json = {"role": "assistant", "content": text or (None if calls else ""), "refusal": None}
        if calls:
            message["tool_calls"] = [_call(call) for call in calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": end.finish}
        return {
            **self._head.fields("chat.completion"),
            "choices": [choice],
            "usage": usage(end.usage),
            "muleteer": _ours(end),
        }

    def opening(self) -> bytes:
        return self._piece({"role": "assistant", "content": ""})

    def piece(self, part: Part) -> bytes:
        if isinstance(part, str):
            return self._piece({"content": part})
        if isinstance(part, End):
            return self._end(part)
        first, self._calls = self._calls, self._calls + len(part)
        return self._piece(
            {"tool_calls": [{"index": i, **_call(call)} for i, call in enumerate(part, first)]}
        )

    def silence(self) -> bytes:
        return b": keep-alive\n\n"

    def failure(self, error: MuleteerError | TurnError) -> bytes:
        return event(fault_of(error).fields())

    def _end(self, end: End) -> bytes:
        """Everything that is still to be said."""
        pieces = self._piece({}, end.finish, {"muleteer": _ours(end)})
        if self._usage:
            fields = self._head.fields("chat.completion.chunk")
            pieces += event({**fields, "choices": [], "usage": usage(end.usage)})
        return pieces + DONE

    def _piece(
        self, delta: Json, finish: str | None = None, more: Mapping[str, object] | None = None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        told = {"usage": None} if self._usage else {}
        fields = self._head.fields("chat.completion.chunk")
        return event({**fields, "choices": [choice], **told, **(more or {})})


def usage(spent: Usage) -> Json:
    """All levels of the turn: what the engine was given, and what it generated or scored, of which
    `reasoning_tokens` is not in the reply."""
    return {
        "prompt_tokens": spent.prompt,
        "completion_tokens": spent.completion,
        "total_tokens": spent.prompt + spent.completion,
        "prompt_tokens_details": {"cached_tokens": spent.cached},
        "completion_tokens_details": {"reasoning_tokens": spent.hidden},
    }


def event(fields: Mapping[str, object]) -> bytes:
    return b"data: " + to_json(fields) + b"\n\n"


def to_json(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as it is told: `retry` in seconds, 0 where trying again would be no use."""

    status: int
    code: str
    message: str
    param: str | None = None
    retry: float = 0.0

    def fields(self) -> Json:
        return faults.openai(self.status, self.code, self.message, self.param)

    def headers(self) -> dict[str, str]:
        return {"retry-after": str(math.ceil(self.retry))} if self.retry else {}


def fault_of(error: MuleteerError | TurnError) -> Fault:
    """Any error of ours in OpenAI's words."""
    if isinstance(error, WrongError):
        return Fault(400, error.kind, str(error), error.at or None)
    if isinstance(error, MisplacedError):
        return Fault(400, "invalid_value", str(error), error.at)
    if isinstance(error, TurnError):
        failed = error.failed
        return _fault(failed.code, failed.status, failed.message, RETRY_SECONDS)
    retry = error.retry_after if isinstance(error, EngineBusyError | TooManyError) else RETRY_SECONDS
    return _fault(error.code, error.status, str(error), retry)


def _fault(code: str, status: int, message: str, retry: float) -> Fault:
    if code == TooLongError.code:
        return Fault(400, TOO_LONG, message, "messages")
    if code == TooManyError.code:
        return Fault(status, "rate_limit_exceeded", message, retry=retry)
    if code == ModelError.code:
        return Fault(status, code, message)
    return Fault(status, code, message, retry=retry if status == LoadingError.status else 0.0)


def _call(call: Wanted) -> Json:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    function = {"name": call.name, "arguments": arguments}
    return {"id": f"call_{secrets.token_hex(12)}", "type": "function", "function": function}


def _ours(end: End) -> Json:
    return {
        "turn": end.turn,
        "levels": [asdict(level) for level in end.levels],
        "dropped_messages": end.dropped,
        "warnings": list(end.warnings),
    }
