"""Whether two JSON schemas exclude each other, so that `oneOf` means the same as `anyOf`.

Knows types, literals and required properties; what it cannot prove it denies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

KINDS = frozenset({"null", "boolean", "number", "string", "array", "object"})
DEEPEST = 8  # references and tags followed; a tagged union needs three

Lookup = Callable[[Mapping[str, Any]], Any]


def disjoint(one: Any, other: Any, lookup: Lookup, steps: Iterator[object], depth: int = 0) -> bool:
    """Whether no value satisfies both schemas. `lookup` gives what a schema with `$ref` refers to; without
    another step nothing is proved."""
    if one is False or other is False:
        return True
    if one is True or other is True or depth > DEEPEST or next(steps, None) is None:
        return False
    for schema, rest in ((one, other), (other, one)):
        if "$ref" in schema:
            return disjoint(lookup(schema), rest, lookup, steps, depth + 1)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return all(disjoint(part, rest, lookup, steps, depth + 1) for part in schema[key])
    literals, others = _literals(one), _literals(other)
    if literals is not None and others is not None:
        return not literals & others
    shared = _kinds(one) & _kinds(other)
    if shared == {"object"}:
        return _tagged(one, other, lookup, steps, depth) or _lacks(one, other) or _lacks(other, one)
    return not shared


def _tagged(
    one: Mapping[str, Any], other: Mapping[str, Any], lookup: Lookup, steps: Iterator[object], depth: int
) -> bool:
    """Whether a property that both require tells them apart."""
    here, there = one.get("properties", {}), other.get("properties", {})
    return any(
        name in here and name in there and disjoint(here[name], there[name], lookup, steps, depth + 1)
        for name in {*one.get("required", ())} & {*other.get("required", ())}
    )


def _lacks(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether `one` forbids, in so many words, a property that `other` requires."""
    if one.get("additionalProperties") is not False or "patternProperties" in one:
        return False
    return any(name not in one.get("properties", {}) for name in other.get("required", ()))


def _literals(schema: Mapping[str, Any]) -> set[str] | None:
    if "const" in schema:
        return {_canonical(schema["const"])}
    return {_canonical(value) for value in schema["enum"]} if "enum" in schema else None


def _canonical(value: object) -> str:
    """Text that equal JSON values share: 1 and 1.0 are equal, 1 and true are not."""

    def plain(part: object) -> object:
        if isinstance(part, float) and part.is_integer():
            return int(part)
        if isinstance(part, list):
            return [plain(item) for item in part]
        return {key: plain(item) for key, item in part.items()} if isinstance(part, dict) else part

    return json.dumps(plain(value), sort_keys=True)


def _kinds(schema: Mapping[str, Any]) -> frozenset[str]:
    literals = _literals(schema)
    if literals is not None:
        return frozenset(_kind(json.loads(text)) for text in literals)
    kinds = schema.get("type", KINDS)
    named = {kinds} if isinstance(kinds, str) else set(kinds)
    return frozenset("number" if kind == "integer" else kind for kind in named)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
