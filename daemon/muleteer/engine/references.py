"""References inside one JSON schema: what they point to, and which schemas have no finite value.

Knows JSON pointers and which keywords hold schemas; nothing of what the other keywords mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

Schema = dict[str, Any]

MAPS = ("properties", "patternProperties", "$defs")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLES = ("items", "additionalProperties")


class Refusal(Exception):  # noqa: N818  # an answer about a schema, not a failure of the program
    """A schema cannot be enforced: where (JSON pointer), because of which keyword, and why."""

    def __init__(self, pointer: str, keyword: str, reason: str) -> None:
        super().__init__(f"The schema at {pointer or '/'} cannot be enforced ({keyword}): {reason}")


def escaped(step: str) -> str:
    """A name as one step of a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")


def name_of(reference: str, pointer: str) -> str:
    """The JSON pointer that a `$ref` at `pointer` holds, unquoted. Raises `Refusal` unless it is local."""
    if not reference.startswith("#"):
        raise Refusal(pointer, "$ref", f"{reference} is remote.")
    target = unquote(reference[1:])
    if target and not target.startswith("/"):
        raise Refusal(pointer, "$ref", f"{reference} is an anchor; give a JSON pointer.")
    return target


def resolve(root: object, target: str, pointer: str) -> object:
    """What the JSON pointer `target` points to in `root`. Raises `Refusal` when that is nothing."""
    found = root
    for step in target.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            raise Refusal(pointer, "$ref", f"there is nothing at #{target}.")
    return found


def below(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas directly inside a narrowed schema, with their paths from it."""
    for key in MAPS:
        for name, inner in schema.get(key, {}).items():
            yield f"{key}/{escaped(name)}", inner
    for key in LISTS:
        for i, inner in enumerate(schema.get(key, ())):
            yield f"{key}/{i}", inner
    for key in SINGLES:
        if key in schema:
            yield key, schema[key]


def count(schema: Schema | bool) -> int:
    """Schemas in a narrowed schema, itself included, but for plain true and false."""
    return 0 if isinstance(schema, bool) else 1 + sum(count(inner) for _, inner in below(schema))


def endless(root: Schema) -> str | None:
    """The name of a definition that no finite value satisfies since it needs itself; None if all end. One
    that may be left out counts, too: the decoder gives up where it begins."""
    definitions: dict[str, Schema] = root.get("$defs", {})
    ending: set[str] = set()
    while more := {name for name, one in definitions.items() if name not in ending and _ends(one, ending)}:
        ending |= more
    return next((name for name in definitions if name not in ending), None)


def _ends(schema: Schema | bool, ending: Collection[str]) -> bool:
    """Whether a schema has a finite value, if those of the definitions in `ending` have."""
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema and target_of(schema) not in ending:
        return False
    if not all(_ends(part, ending) for part in schema.get("allOf", ())):
        return False
    for key in ("anyOf", "oneOf"):
        if key in schema and not any(_ends(part, ending) for part in schema[key]):
            return False
    if schema.get("type") == "object":
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        return all(_ends(known.get(name, others), ending) for name in schema.get("required", ()))
    if schema.get("type") == "array" and (least := schema.get("minItems", 0)):
        first = schema.get("prefixItems", [])
        needed = [*first[:least], *([schema.get("items", True)] if least > len(first) else [])]
        return all(_ends(item, ending) for item in needed)
    return True


def target_of(schema: Mapping[str, Any]) -> str:
    """The name, in `$defs`, of what a narrowed schema refers to."""
    name = unquote(schema["$ref"].removeprefix("#/$defs/"))
    return name.replace("~1", "/").replace("~0", "~")


def reference_to(name: str) -> str:
    """The `$ref` of a definition of a narrowed schema."""
    return f"#/$defs/{quote(escaped(name))}"
