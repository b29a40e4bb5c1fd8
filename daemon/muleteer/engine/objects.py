"""Closing objects in narrowed schemas: a property that no schema names is not written.

An object that several schemas describe together (`allOf`, `anyOf` beside `properties`, a `$ref` with
company) is closed around the names of all of them. Knows properties and references only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muleteer.engine import references
from muleteer.engine.narrowing import may_be
from muleteer.engine.references import Refusal, Schema

EITHER = ("anyOf", "oneOf")
SPEAKS = ("type", "properties", "patternProperties", "additionalProperties", "required", "allOf", "$ref")
MOST_COPIES = 100  # of definitions that stand beside others; copies of copies double with each level

Names = dict[str, None]  # in order: properties are written in the order they are named


def close(root: Schema) -> Schema:
    """The schema with every object closed that does not say what else it may hold. Raises `Refusal`."""
    definitions = root.get("$defs", {})
    closing = _Closing(definitions)
    closed: Schema = closing.alone({key: value for key, value in root.items() if key != "$defs"})
    inner = {name: closing.alone(one) for name, one in definitions.items()}
    return {**closed, "$defs": inner} if inner else closed


class _Closing:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions
        self._copies = 0

    def alone(self, schema: Any) -> Any:
        """A schema that describes its value by itself."""
        return self._close(schema, {}, (), together=False)

    def _close(self, schema: Any, others: Names, within: tuple[str, ...], together: bool) -> Any:
        """A schema whose value may also have the properties `others`, named by schemas beside it. `within`:
        the definitions that it is a copy of."""
        if isinstance(schema, bool):
            return schema
        out = dict(schema)
        for key in ("properties", "patternProperties"):
            if key in out:
                out[key] = {name: self.alone(inner) for name, inner in out[key].items()}
        for key in references.SINGLES:
            if key in out:
                out[key] = self.alone(out[key])
        if "prefixItems" in out:
            out["prefixItems"] = [self.alone(inner) for inner in out["prefixItems"]]
        names = others | self._names([schema], set())
        combined = any(key in out for key in ("allOf", "$ref", *EITHER))
        together = together or (combined and sum(key in out for key in (*SPEAKS, *EITHER)) > 1)
        self._combined(out, names, others, within, together)
        if (may_be(out, "object") or "properties" in out) and "additionalProperties" not in out:
            if together:
                out["properties"] = out.get("properties", {}) | {
                    name: {} for name in names if name not in out.get("properties", {})
                }
            out["additionalProperties"] = False
        return out

    def _combined(
        self, out: Schema, names: Names, others: Names, within: tuple[str, ...], together: bool
    ) -> None:
        """The schemas beside each other in `out`, each closed around what all of them name; alternatives do
        not get each other's names."""
        if "allOf" in out:
            out["allOf"] = [self._close(part, names, within, True) for part in out["allOf"]]
        for key in EITHER:
            if key in out and together:
                mine = others | self._names([{k: v for k, v in out.items() if k != key}], set())
                out[key] = [self._close(part, mine, within, True) for part in out[key]]
            elif key in out:
                out[key] = [self._close(part, {}, within, False) for part in out[key]]
        if "$ref" in out and together and self._names([{"$ref": out["$ref"]}], set()):
            name = references.target_of(out)
            self._copies += 1
            if name in within or self._copies > MOST_COPIES:
                raise Refusal(name, "$ref", "it is part of itself; let it be a property's schema instead.")
            copy = self._close(self._definitions[name], names, (*within, name), True)
            del out["$ref"]
            out["allOf"] = [copy, *out.get("allOf", ())]

    def _names(self, schemas: Iterable[Any], seen: set[str]) -> Names:
        """The properties that schemas name together, by reference too."""
        names: Names = {}
        for schema in schemas:
            if isinstance(schema, bool):
                continue
            names |= dict.fromkeys(schema.get("properties", ()))
            for key in ("allOf", *EITHER):
                names |= self._names(schema.get(key, ()), seen)
            if "$ref" in schema and (name := references.target_of(schema)) not in seen:
                seen.add(name)
                names |= self._names([self._definitions[name]], seen)
        return names
