"""Calls in the shapes that models give them: an object with a name and arguments in any order and under
several keys, a list of those, or Python's `[name(key="value")]`. Pure; reads where it is told to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from muleteer.engine.protocol import ToolSpec
from muleteer.harness.dialects.calls import ToolCall
from muleteer.harness.dialects.lenient import Fault, Scanner

ARGUMENTS = ("arguments", "parameters")
NAMES = ("name", "function", "tool")
AROUND = frozenset({"id", "type", "index", *NAMES, *ARGUMENTS})
_PYTHON = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
_DOUBLED = re.compile(r"(?:\{\s*)+(?=\{)")  # small Qwen-Coder models begin every other call with two braces
LONGEST_NAME = 64  # characters; longer ones are no names of tools, and corrections repeat them


@dataclass(frozen=True, slots=True)
class Found:
    """Calls that were read, and the index after them. `exact`: they have nothing that a call has not, and all
    that it has; then their look alone says that they are calls. `complete`: nothing had to be closed."""

    calls: tuple[ToolCall, ...]
    end: int
    exact: bool
    complete: bool


def read(text: str, at: int, tools: Sequence[ToolSpec], stop: str = "") -> Found:
    """Calls from `at` on, in either shape. The text ends at a `stop` between values. Raises `Fault`."""
    if doubled := _DOUBLED.match(text, at):
        at = doubled.end()
    return python(text, at, tools, stop) if _PYTHON.match(text, at) else objects(text, at, stop)


def objects(text: str, at: int, stop: str = "") -> Found:
    """Calls as JSON from `at` on. Raises `Fault` where that is no JSON, or says no call."""
    scanner = Scanner(text, at, stop)
    value = scanner.value()
    whole = [value] if isinstance(value, Mapping) else value
    if isinstance(value, Mapping) and isinstance(listed := value.get("tool_calls"), list):
        whole = listed
    if not isinstance(whole, list) or not whole:
        raise Fault(at, "there is no call")
    shaped = [_shaped(each, at, scanner) for each in whole]
    calls = tuple(replace(call, closed=call.closed or scanner.closed) for call, _ in shaped)
    exact = all(exact for _, exact in shaped)
    return Found(calls, scanner.at, exact, not scanner.completed)


def python(text: str, at: int, tools: Sequence[ToolSpec], stop: str = "") -> Found:
    """Calls as a Python list from `at` on; values without a key are the tool's parameters in their order.
    Raises `Fault`."""
    scanner = Scanner(text, at, stop)
    scanner.open()
    calls: list[ToolCall] = []
    while not scanner.ends("]", bool(calls)):
        name = _dotted(scanner)
        if not name or scanner.next() != "(":
            raise Fault(scanner.at, "there is no call")
        calls.append(ToolCall(name, _keywords(scanner, _parameters(name, tools))))
        scanner.separate("]")
    found = tuple(replace(call, closed=scanner.closed) for call in calls)
    return Found(found, scanner.at, True, not scanner.completed)


def arguments(name: str, text: str, cut: bool = False) -> ToolCall:
    """A call whose arguments are JSON text of their own, as servers send them; nothing means none. `cut`: a
    limit ended the text, so that what is open is not complete."""
    if not text.strip():
        return ToolCall(name, {}, written=text)
    scanner = Scanner(text)
    try:
        value = scanner.value()
        if not scanner.over:
            raise Fault(scanner.at, "something follows the arguments")
        if cut and (scanner.closed or not text.rstrip().endswith("}")):
            raise Fault(len(text), "the token limit cut them")
        if not isinstance(value, dict):
            raise Fault(0, "they are no object")
    except Fault as fault:
        return unreadable(name, text, 0, fault)
    return ToolCall(name, value, written=text, closed=scanner.closed)


def unreadable(name: str, text: str, begin: int, fault: Fault) -> ToolCall:
    """The call in `text[begin:]` that cannot be read."""
    where = f"at character {fault.at - begin + 1}" if fault.at < len(text) else "at its end"
    why = f"the call of {name or 'a tool'} cannot be read: {where} {fault}."
    return ToolCall(name, None, why, text[begin:])


def _shaped(value: object, at: int, scanner: Scanner) -> tuple[ToolCall, bool]:
    """The call that one object says, and whether it looks like nothing but a call. Where the text ended
    early, what is missing may have been to follow."""
    missing = scanner.at if scanner.completed else at
    if not isinstance(value, Mapping):
        raise Fault(at, "there is no call")
    inner = value.get("function")
    if isinstance(inner, Mapping):
        call, exact = _shaped(inner, at, scanner)
        return call, exact and AROUND.issuperset(value)
    name = next((value[key] for key in NAMES if isinstance(value.get(key), str)), "").strip()
    if not name or len(name) > LONGEST_NAME:
        raise Fault(missing, "there is no name of a tool")
    given = [value[key] for key in ARGUMENTS if key in value]
    exact = AROUND.issuperset(value) and len(given) == 1
    if not given:
        if not AROUND.issuperset(value):
            raise Fault(at, 'there are no "arguments"')
        if scanner.completed:
            raise Fault(missing, 'there are no "arguments"')
        return ToolCall(name, {}), False
    if isinstance(given[0], str):
        return replace(arguments(name, given[0]), written=""), exact
    if given[0] is not None and not isinstance(given[0], Mapping):
        raise Fault(at, 'the "arguments" are no object')
    filled = dict(given[0] or {})
    if _is_schema(filled):
        why = f"the call of {name} cannot be read: its arguments are the schema instead of values."
        return ToolCall(name, None, why), exact
    return ToolCall(name, filled), exact


def _is_schema(arguments: Mapping[str, object]) -> bool:
    """Whether they describe parameters instead of giving them."""
    return arguments.get("type") == "object" and isinstance(arguments.get("properties"), Mapping)


def _dotted(scanner: Scanner) -> str:
    name = scanner.word()
    while name and scanner.take("."):
        name += f".{scanner.word()}"
    return name[:LONGEST_NAME]


def _keywords(scanner: Scanner, parameters: Sequence[str]) -> dict[str, object]:
    """What stands between the parentheses, the first of which comes next."""
    given: dict[str, object] = {}
    scanner.open()
    while not scanner.ends(")", bool(given)):
        at = scanner.at
        key = scanner.word()
        if not key or not scanner.take("="):
            scanner.at = at
            key = parameters[len(given)] if len(given) < len(parameters) else ""
        if not key or key in given:
            raise Fault(at, "the name of an argument is missing" if not key else f"{key!r} is given twice")
        given[key] = scanner.value()
        scanner.separate(")")
    return given


def _parameters(name: str, tools: Sequence[ToolSpec]) -> list[str]:
    for tool in tools:
        properties = tool.parameters.get("properties")
        if tool.name == name and isinstance(properties, Mapping):
            return list(properties)
    return []
