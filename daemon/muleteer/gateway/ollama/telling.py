"""Replies, their pieces and errors in the words of Ollama's format. Pure.

`muleteer` in the last object is a field of our own: the turn, its ledger by level, what was dropped, and what
could not be honoured. Durations are in nanoseconds, as the format has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from muleteer.errors import MuleteerError
from muleteer.gateway import faults
from muleteer.gateway.guests import End, Part, Times, TurnError
from muleteer.harness.guests.ask import MisplacedError, Wanted

Json = dict[str, Any]
Fill = Callable[[str, Sequence[Wanted]], Json]  # the part of an object that says something

LINES = "application/x-ndjson"
NO_MODEL = "model {name!r} not found; this device has {known}, and `muleteer model use` chooses another one"


def in_chat(text: str, calls: Sequence[Wanted] = ()) -> Json:
    """What is said in `/api/chat`."""
    message: Json = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments}} for call in calls
        ]
    return {"message": message}


def in_generate(text: str, calls: Sequence[Wanted] = ()) -> Json:
    """What is said in `/api/generate`, which has no calls."""
    return {"response": text}


class Teller:
    """Says one reply to what was `asked` at that second of a clock that only goes forward. `warnings` are
    those of the request; the reply may have more."""

    headers: Final = {"content-type": LINES, "cache-control": "no-cache, no-transform"}

    def __init__(self, model: str, fill: Fill, asked: float, warnings: Sequence[str] = ()) -> None:
        self._model, self._fill, self._asked, self._warnings = model, fill, asked, tuple(warnings)

    def opening(self) -> bytes:
        return b""

    def piece(self, part: Part) -> bytes:
        if isinstance(part, End):
            return line(self.whole("", (), part))
        said = self._fill(part, ()) if isinstance(part, str) else self._fill("", part)
        return line({**self._head(), **said, "done": False})

    def silence(self) -> bytes:
        return self.piece("")

    def failure(self, error: MuleteerError | TurnError) -> bytes:
        return line(faults.ollama(fault(error)[1]))

    def whole(self, text: str, calls: Sequence[Wanted], end: End) -> Json:
        """The last object, or the only one. `prompt_eval_count` are the tokens of all prompts of the turn, of
        which so many were cached, `eval_count` those of the reply."""
        usage = end.usage
        return {
            **self._head(),
            **self._fill(text, calls),
            "done": True,
            "done_reason": "length" if end.finish == "length" else "stop",
            **self._durations(end.times),
            "prompt_eval_count": usage.prompt,
            "prompt_eval_cached_count": usage.cached,
            "eval_count": usage.completion - usage.hidden,
            "muleteer": {
                "turn": end.turn,
                "levels": [asdict(level) for level in end.levels],
                "dropped_messages": end.dropped,
                "warnings": [*self._warnings, *end.warnings],
            },
        }

    def nothing(self, reason: str, warnings: Sequence[str] = ()) -> Json:
        """The answer to a request that asked for nothing but the model, `load` or `unload`."""
        told = {"muleteer": {"warnings": [*self._warnings, *warnings]}}
        return {**self._head(), **self._fill("", ()), "done": True, "done_reason": reason, **told}

    def _durations(self, times: Times) -> Json:
        """`prompt_eval_duration` is all until the first word, planning and tools included."""
        return {
            "total_duration": _ns(times.ended - self._asked),
            "load_duration": _ns(times.begun - self._asked),
            "prompt_eval_duration": _ns(times.first - times.begun),
            "eval_duration": _ns(times.ended - times.first),
        }

    def _head(self) -> Json:
        return {"model": self._model, "created_at": moment(datetime.now(UTC))}


def moment(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def fault(error: MuleteerError | TurnError) -> tuple[int, str]:
    """Status and sentence of any error of ours."""
    if isinstance(error, TurnError):
        return error.failed.status, error.failed.message
    if isinstance(error, MisplacedError) and error.at == "response_format":
        return error.status, str(error).replace(error.at, "format", 1)  # as it is called here
    return error.status, str(error)


def line(fields: Json) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"


def _ns(seconds: float) -> int:
    return max(0, round(seconds * 1e9))
