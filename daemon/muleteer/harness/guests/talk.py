"""A guest's messages as one conversation: what is wanted now, what was said before, what its tools returned.

Pure. Checks that results and calls belong together, and says where they do not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from muleteer.engine.protocol import Message
from muleteer.harness.clip import clipped
from muleteer.harness.guests.ask import Called, MisplacedError, Said

# Messages that are looked at; more than any context here holds of them.
MOST_MESSAGES = 64

# Levels of JSON in arguments and results; no function's have more than a few.
DEEPEST = 64

# Characters of a result of an earlier message: enough to speak of it once more.
EARLIER_RESULT = 400

_FAULT = re.compile(
    r"\s*(?:error|exception|traceback|fehler|failed|failure|invalid|not found)\b", re.IGNORECASE
)
_FAULT_KEYS = ("error", "errors", "exception")
_SUCCESS_KEYS = ("success", "ok")


@dataclass(frozen=True, slots=True)
class Made:
    """A call that the guest has made for the message, and what it returned."""

    name: str
    arguments: dict[str, object]
    result: str

    @property
    def failed(self) -> bool:
        """Whether the result says of itself that it is an error."""
        return is_fault(self.result)


@dataclass(frozen=True, slots=True)
class Talk:
    """`system` is the guest's own instructions. `message` is the user's last one, `history` what was said
    before it, `dropped` messages earlier than that; `made` are the calls since, in `rounds` replies."""

    system: str
    history: tuple[Message, ...]
    message: str
    made: tuple[Made, ...] = ()
    rounds: int = 0
    dropped: int = 0


def read(messages: Sequence[Said]) -> Talk:
    """Raises `MisplacedError`."""
    system = "\n\n".join(said.content for said in messages if said.role == "system" and said.content.strip())
    last = max((i for i, said in enumerate(messages) if said.role == "user"), default=-1)
    if last < 0:
        raise MisplacedError("messages", "must hold a message of the user.")
    results = _results(messages)
    history, dropped = _history(messages[:last], results)
    made: list[Made] = []
    rounds = 0
    for i, said in enumerate(messages[last + 1 :], last + 1):
        if said.role == "assistant" and not said.calls:
            raise MisplacedError(
                f"messages[{i}]", "is the last word already; end with the user's or a tool's."
            )
        rounds += said.role == "assistant"
        made += [Made(call.name, _arguments(call, i, j), results[i, j]) for j, call in enumerate(said.calls)]
    return Talk(system, history, messages[last].content, tuple(made), rounds, dropped)


def is_deep(value: object) -> bool:
    """Whether JSON is nested deeper than it can be told of."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level if isinstance(each, dict | list) for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: dict[str, object] | list[object]) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else value


def is_fault(result: str) -> bool:
    """Whether a tool's result says that it is an error, by its first words or by the keys that say so."""
    try:
        found = json.loads(result)
    except (ValueError, RecursionError):
        found = result
    if isinstance(found, dict):
        return any(found.get(key) for key in _FAULT_KEYS) or any(
            found.get(key) is False for key in _SUCCESS_KEYS
        )
    return isinstance(found, str) and bool(_FAULT.match(found))


def _results(messages: Sequence[Said]) -> dict[tuple[int, int], str]:
    """What each call returned, by the places of message and call."""
    found: dict[tuple[int, int], str] = {}
    open_calls: list[tuple[int, int, Called]] = []
    for i, said in enumerate(messages):
        if said.role == "tool":
            _answer(said, i, open_calls, found)
            continue
        if said.role != "system":
            _all_answered(open_calls)
        for j, call in enumerate(said.calls):
            _arguments(call, i, j)
            open_calls.append((i, j, call))
    _all_answered(open_calls)
    return found


def _answer(
    said: Said, place: int, open_calls: list[tuple[int, int, Called]], found: dict[tuple[int, int], str]
) -> None:
    fits = [each for each in open_calls if not said.answers or each[2].id == said.answers]
    if not fits:
        which = f"tool_call_id {said.answers[:80]!r}" if said.answers else "a call"
        raise MisplacedError(
            f"messages[{place}]", f"is the result of {which} that no message before it asks for."
        )
    i, j, _ = fits[0]
    open_calls.remove(fits[0])
    found[i, j] = said.content


def _all_answered(open_calls: Sequence[tuple[int, int, Called]]) -> None:
    if open_calls:
        i, j, call = open_calls[0]
        raise MisplacedError(
            f"messages[{i}].tool_calls[{j}]",
            f"has no result: a tool message must answer the call of {call.name[:80]}.",
        )


def _arguments(call: Called, i: int, j: int) -> dict[str, object]:
    place = f"messages[{i}].tool_calls[{j}].function.arguments"
    try:
        read = json.loads(call.arguments or "{}")
    except ValueError as error:
        raise MisplacedError(place, f"is not JSON: {error}.") from None
    except RecursionError:
        read = None
    if read is None or is_deep(read):
        raise MisplacedError(place, "is null, or nested too deeply.")
    if not isinstance(read, dict):
        raise MisplacedError(place, "must be the JSON text of an object.")
    return read


def _history(
    messages: Sequence[Said], results: dict[tuple[int, int], str]
) -> tuple[tuple[Message, ...], int]:
    """The newest messages, results right behind their calls; and how many earlier ones there are."""
    turns: list[list[Message]] = []
    for i, said in enumerate(messages):
        if said.role == "system" or said.role == "tool" or not (said.content.strip() or said.calls):
            continue
        calls = tuple((call.name, call.arguments or "{}") for call in said.calls)
        answers = [Message("tool", clipped(results[i, j], EARLIER_RESULT)) for j in range(len(calls))]
        turns.append([Message(said.role, said.content, calls), *answers])
    kept = turns[-MOST_MESSAGES:]
    return tuple(message for turn in kept for message in turn), len(turns) - len(kept)
