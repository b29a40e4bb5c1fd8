"""JSON schemas narrowed to what llguidance enforces: never looser than they say, objects closed.

This pass sees each schema by itself: numbers, texts, sizes, old drafts. `objects.py` then closes objects
that several schemas describe together. Knows keywords (words that no draft knows are remarks, as the
standard has it); nothing of grammars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from muleteer.engine import references, texts
from muleteer.engine.alternatives import KINDS, disjoint
from muleteer.engine.references import LISTS, SINGLES, Refusal, Schema, escaped

LARGEST = 10**15  # bound of a number: no exponent, no infinity, no endless digits, and exact in a float
CLEARANCE = 1e-12  # of an exclusive bound, relative: more digits than a float has would round onto it
MOST_SCHEMAS = 450  # in one schema: an optional property takes 4 of the 2,000 items in the parser's row
LARGEST_MULTIPLE = 2_000  # digits of multipleOf as a number: as many parser states; 5,003 still works
MOST_COMPARISONS = 20_000  # of alternatives, all pairs; a union of a hundred tagged types needs 15,000
DEEPEST = 64  # schemas in schemas; far beyond any tool, well below the recursion limit
ANYTHING = "anything"  # the definition of any value; no pointer is called so, they begin with a slash
UNSUPPORTED = (
    *("not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"),
    *("propertyNames", "uniqueItems", "contains", "minContains", "maxContains"),
    *("unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"),
    *("extends", "disallow", "divisibleBy"),
)
IDLE = {"uniqueItems": False, "minProperties": 0}  # values that ask for nothing
SHAPES: dict[str, type | tuple[type, ...]] = {  # of the keywords that are kept
    **dict.fromkeys(("properties", "patternProperties"), dict),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems", "required", "enum"), list),
    **dict.fromkeys(("items", "additionalProperties"), (dict, bool)),
    **dict.fromkeys(("pattern", "format", "$ref"), str),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), int),
    **dict.fromkeys(("minProperties", "maxProperties"), int),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (int, float)),
    "multipleOf": (int, float),
    "type": (str, list),
    "const": object,
}
ABOUT = {  # what a schema without a type is about, by its keywords
    "object": ("properties", "patternProperties", "additionalProperties", "required", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
OPEN = ("enum", "const", "anyOf", "oneOf", "allOf", "$ref")  # with one of these it needs no type


def narrow(root: object) -> Schema | bool:
    """The schema with everything it refers to in `$defs`, named by JSON pointer. Raises `Refusal`."""
    return _Narrowing(root).whole()


class _Narrowing:
    def __init__(self, root: object) -> None:
        self._root = root
        self._needed: dict[str, None] = {}  # pointers referred to, in order of first use
        self._apart: list[tuple[list[Any], str]] = []  # the `oneOf`s, with their pointers
        self._seen = 0

    def whole(self) -> Schema | bool:
        narrowed = self._schema(self._root, "", False)
        if isinstance(narrowed, bool):
            return narrowed
        definitions: dict[str, Schema | bool] = {}
        while left := [name for name in self._needed if name not in definitions]:
            for name in left:
                definitions[name] = self._definition(name)
        for given, pointer in self._apart:  # now that everything referred to is known to be well formed
            self._check_apart(given, pointer)
        return {**narrowed, "$defs": definitions} if definitions else narrowed

    def _definition(self, name: str) -> Schema | bool:
        if name == ANYTHING:
            anything = self._refer(ANYTHING)
            bounds = {"minimum": -LARGEST, "maximum": LARGEST}
            return {"type": sorted(KINDS), **bounds, "items": anything, "additionalProperties": anything}
        target = "" if name == "/" else name
        return self._schema(references.resolve(self._root, target, ""), target, False)

    def _refer(self, name: str) -> Schema:
        self._needed.setdefault(name)
        return {"$ref": references.reference_to(name)}

    def _schema(self, schema: object, pointer: str, part: bool) -> Schema | bool:
        """One schema and those in it; a `part` describes its value together with the schemas beside it."""
        if schema is False:
            return False
        if schema is True:
            schema = {}
        if not isinstance(schema, dict):
            raise Refusal(pointer, "type", "it is neither an object nor a boolean.")
        if pointer.count("/") > 2 * DEEPEST:
            raise Refusal("", "its size", f"it is nested deeper than {DEEPEST} levels.")
        self._seen += 1 + _containers([schema.get("enum"), schema.get("const")])
        if self._seen > MOST_SCHEMAS:
            raise Refusal("", "its size", f"it holds more than {MOST_SCHEMAS} schemas and values.")
        out = _supported(schema, pointer)
        if "$ref" in out:
            target = references.name_of(out["$ref"], pointer)
            references.resolve(self._root, target, pointer)
            out |= self._refer(target or "/")
        self._inner(out, pointer)
        if "oneOf" in out:
            self._one_of(out, schema["oneOf"], pointer)
        if not part:
            out = self._typed(out)
        _numbers(out, pointer)
        _texts(out, pointer)
        _sizes(out, pointer)
        return out

    def _inner(self, out: Schema, pointer: str) -> None:
        alone = not {"type", "properties", "required", "$ref", "allOf"} & out.keys()
        for key in ("properties", "patternProperties"):
            if key in out:
                read: Callable[[str, str], str] = _pattern if key == "patternProperties" else _same
                out[key] = {
                    read(name, pointer): self._schema(inner, f"{pointer}/{key}/{escaped(name)}", False)
                    for name, inner in out[key].items()
                }
        for key in LISTS:
            part = key == "allOf" or (key != "prefixItems" and not alone)
            if key in out:
                out[key] = [
                    self._schema(inner, f"{pointer}/{key}/{i}", part) for i, inner in enumerate(out[key])
                ]
        for key in SINGLES:
            if key in out:
                out[key] = self._schema(out[key], f"{pointer}/{key}", False)

    def _one_of(self, out: Schema, given: list[Any], pointer: str) -> None:
        """`oneOf` as `anyOf`, which is the same where the alternatives exclude each other."""
        self._apart.append((given, pointer))
        either = {"anyOf": out.pop("oneOf")}
        if "anyOf" in out:
            out["allOf"] = [*out.get("allOf", ()), either]
        else:
            out |= either

    def _check_apart(self, given: list[Any], pointer: str) -> None:
        """Raise `Refusal` unless the alternatives of a `oneOf` exclude each other."""

        def lookup(schema: Mapping[str, Any]) -> object:
            return references.resolve(self._root, references.name_of(schema["$ref"], pointer), pointer)

        steps = iter(range(MOST_COMPARISONS))
        for i, one in enumerate(given):
            if not all(disjoint(one, other, lookup, steps) for other in given[i + 1 :]):
                raise Refusal(
                    pointer, "oneOf", "its alternatives may overlap; use anyOf, or a const in each."
                )

    def _typed(self, out: Schema) -> Schema:
        """With the type that its keywords are about; a schema that says nothing takes any value."""
        if "type" not in out and not any(key in out for key in OPEN):
            about = [kind for kind, keys in ABOUT.items() if any(key in out for key in keys)]
            if not about:
                return self._refer(ANYTHING)
            out = {"type": about[0] if len(about) == 1 else about, **out}
        if may_be(out, "array") and not any(key in out for key in OPEN):
            out.setdefault("items", self._refer(ANYTHING))
        return out


def may_be(schema: Mapping[str, Any], kind: str) -> bool:
    """Whether a schema's `type` says so."""
    kinds = schema.get("type", ())
    return kind in ([kinds] if isinstance(kinds, str) else kinds)


def _supported(schema: Mapping[str, Any], pointer: str) -> Schema:
    """The keywords that mean something for a value, in the words of the latest draft."""
    out: Schema = {}
    for key, value in schema.items():
        if key in UNSUPPORTED and not (key in IDLE and value == IDLE[key]):
            raise Refusal(pointer, key, "no grammar can hold a model to this keyword.")
        if key == "$id" and pointer:
            raise Refusal(pointer, key, "a schema within a schema must not have an address of its own.")
        if key in SHAPES and not (key in IDLE and value == IDLE[key]):
            out[key] = value
    if isinstance(out.get("items"), list):  # drafts 4 to 7
        out["prefixItems"] = out.pop("items")
        if "additionalItems" in schema:
            out["items"] = schema["additionalItems"]
    for low, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(out.get(exclusive), bool) and out.pop(exclusive) and low in out:  # draft 4
            out[exclusive] = out.pop(low)
    for key, value in out.items():
        if not isinstance(value, SHAPES[key]) or (
            isinstance(value, bool) and SHAPES[key] in (int, (int, float))
        ):
            raise Refusal(pointer, key, f"{str(value)[:40]!r} is no value for it.")
    kinds = out.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if not isinstance(kind, str) or kind not in {*KINDS, "integer"}:
            raise Refusal(pointer, "type", f"there is no type {str(kind)[:40]!r}.")
    if not all(isinstance(name, str) for name in out.get("required", ())):
        raise Refusal(pointer, "required", "it must be a list of names.")
    return out


def _numbers(out: Schema, pointer: str) -> None:
    """Bounds where there are none, and where they are further away than numbers are exact."""
    for key, side in (("minimum", -1), ("exclusiveMinimum", -1), ("maximum", 1), ("exclusiveMaximum", 1)):
        if key in out:
            if out[key] * side < -LARGEST:
                raise Refusal(pointer, key, f"numbers are between {-LARGEST} and {LARGEST}.")
            out[key] = side * min(out[key] * side, LARGEST)
    if (may_be(out, "number") or may_be(out, "integer")) and not {"enum", "const"} & out.keys():
        if not {"minimum", "exclusiveMinimum"} & out.keys():
            out["minimum"] = -LARGEST
        if not {"maximum", "exclusiveMaximum"} & out.keys():
            out["maximum"] = LARGEST
    if not may_be(out, "integer"):
        for key, exclusive, side in (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)):
            if exclusive in out:
                bound = out.pop(exclusive)
                clear = bound + side * CLEARANCE * max(1.0, abs(bound))
                out[key] = max(out.get(key, clear) * side, clear * side) * side
    if "multipleOf" in out:
        multiple = Decimal(str(out["multipleOf"])).normalize()
        digits = int("".join(map(str, multiple.as_tuple().digits)))
        if multiple <= 0 or digits > LARGEST_MULTIPLE or abs(multiple.adjusted()) > 15:
            raise Refusal(pointer, "multipleOf", f"{out['multipleOf']} is not one that can be counted.")


def _texts(out: Schema, pointer: str) -> None:
    """Patterns and formats that every reader of the text agrees about, and texts that can be written."""
    for key in ("enum", "const"):
        if any(texts.UNWRITABLE.search(found) for found in _strings(out.get(key))):
            raise Refusal(pointer, key, "a control character in it cannot be written.")
    if "format" in out and "type" in out and not may_be(out, "string"):
        del out["format"]
    patterns = [_pattern(out.pop("pattern"), pointer), texts.WRITABLE] if "pattern" in out else []
    if out.get("format") in texts.FORMATS:
        patterns.append(texts.FORMATS[out.pop("format")])
    if patterns and "maxLength" in out:
        out["maxLength"] = max(out.get("minLength", 0), texts.longest_text(patterns[0], out["maxLength"]))
    if patterns:
        out["pattern"], *rest = patterns
        if rest:
            out["allOf"] = [*out.get("allOf", ()), *({"pattern": each} for each in rest)]


def _sizes(out: Schema, pointer: str) -> None:
    """A number of properties that the names already give need not be counted."""
    least, required = out.get("minProperties", 0), len({*out.get("required", ())})
    if least <= required:
        out.pop("minProperties", None)
    elif least > 1:  # a name written twice would count twice
        raise Refusal(pointer, "minProperties", "it asks for more properties than are required by name.")
    closed = out.get("additionalProperties", False) is False and "patternProperties" not in out
    if closed and "properties" in out and len(out["properties"]) <= out.get("maxProperties", 0):
        out.pop("maxProperties", None)


def _containers(value: object) -> int:
    """Lists and objects inside a value; each one costs the parser as much as a schema."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(1 + _containers(part) for part in inner if isinstance(part, dict | list))


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in _strings(part)]


def _pattern(pattern: str, pointer: str) -> str:
    try:
        return texts.narrowed(pattern)
    except ValueError as error:
        raise Refusal(pointer, "pattern", f"{error}.") from error


def _same(name: str, _pointer: str) -> str:
    return name
