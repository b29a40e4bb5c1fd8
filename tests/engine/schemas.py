"""The schemas that broke others: each is enforced, or refused with JSON pointer and keyword."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def one(name: str, schema: object) -> Schema:
    """An object that must have one property."""
    return {"type": "object", "properties": {name: schema}, "required": [name]}


def listed(items: object) -> Schema:
    return one("a", {"type": "array", "items": items, "maxItems": 2})


def nested(depth: int) -> Schema:
    schema: Schema = {"type": "boolean"}
    for _ in range(depth):
        schema = one("a", schema)
    return schema


def nested_arrays(depth: int) -> Schema:
    schema: Schema = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def list_in_list(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


DRAFT_4, DRAFT_7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 7))
PLACE = {"type": "object", "properties": {"place": {"type": "string", "maxLength": 9}}, "required": ["place"]}
LEVEL = {"type": "object", "properties": {"level": {"type": "integer", "minimum": 0, "maximum": 9}}}
NODE = {
    "type": "object",
    "properties": {"v": {"enum": [1, 2]}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["v"],
}
TAGS = [one("tag", {"const": "x"}), {**one("tag", {"const": "y"}), "required": ["tag"]}]

ENFORCED: dict[str, Any] = {
    "no properties": {"type": "object", "properties": {}},
    "property without type": one("a", {}),
    "property that is true": one("a", True),
    "everything": True,
    "boolean": {"type": "boolean"},
    "nullable enum": one("a", {"type": ["string", "null"], "enum": ["x", "y", None]}),
    "constant": one("a/b~c", {"const": 'x "y" \\ \n 😀'}),
    "constant object": one("a", {"const": {"b": [1, None, {"c": "d"}]}}),
    "enum of 5,000": one("a", {"enum": [f"value {i}" for i in range(5000)]}),
    "unanchored digits": one("a", {"type": "string", "pattern": r"\d{3}", "maxLength": 8}),
    "digits": one("a", {"type": "string", "pattern": r"^\d{4}-\d{2}$"}),
    "no digit": one("a", {"type": "string", "pattern": r"^[^\d]\D$"}),
    "no word": one("a", {"type": "string", "pattern": r"^\W[^\w]$"}),
    "no space": one("a", {"type": "string", "pattern": r"^\S[^\s]\s$"}),
    "alternatives of a pattern": one("a", {"type": "string", "pattern": "^a$|^b|c$", "maxLength": 5}),
    **{
        f"maxLength {n} in items": listed({"type": "string", "maxLength": n})
        for n in (1999, 2000, 2001, 65536)
    },
    "pattern in items": listed(
        {"type": "string", "pattern": r"^(\d+|imap:[A-Za-z0-9_-]+)$", "maxLength": 12}
    ),
    "exclusive": one("a", {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 6}),
    "exclusive as in draft 4": {"$schema": DRAFT_4}
    | one("a", {"type": "integer", "minimum": 3, "exclusiveMinimum": True, "maximum": 5}),
    "negative": one("a", {"type": "integer", "minimum": -7, "maximum": -5}),
    "large": one("a", {"type": "integer", "minimum": -(2**63), "maximum": 2**63}),
    "between": one("a", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
    "any number": one("a", {"type": "number"}),
    "multiple": one("a", {"type": "number", "multipleOf": 0.1, "minimum": 0, "maximum": 2}),
    "number or text": one("a", {"type": ["integer", "string"], "maxLength": 3, "maximum": 5}),
    **{
        form: one("a", {"type": "string", "format": form, "maxLength": 60})
        for form in ("date", "time", "date-time", "uri")
    },
    "format of a number": one("a", {"type": "integer", "format": "int32"}),
    "format and pattern": one("a", {"type": "string", "format": "date", "pattern": "^2024-"}),
    "objects in allOf": {"allOf": [PLACE, LEVEL]},
    "references in allOf": {
        "allOf": [{"$ref": "#/$defs/place"}, {"$ref": "#/$defs/level"}, {"required": ["level"]}],
        "$defs": {"place": PLACE, "level": LEVEL},
    },
    "reference with company": {"$ref": "#/$defs/place", **LEVEL, "$defs": {"place": PLACE}},
    "anyOf beside properties": {**LEVEL, "anyOf": [PLACE, {"required": ["level"]}]},
    "tagged oneOf": {
        "oneOf": [{"$ref": "#/$defs/0"}, {"$ref": "#/$defs/1"}],
        "$defs": {"0": TAGS[0], "1": TAGS[1]},
    },
    "oneOf types": one("a", {"oneOf": [{"type": "integer"}, {"type": "string", "maxLength": 3}]}),
    "pattern properties": {
        "type": "object",
        "patternProperties": {"^x-[a-z]{1,3}$": {"type": "boolean"}},
        "properties": {"x-on": {"enum": [True]}},
    },
    "open object": {
        "type": "object",
        "additionalProperties": {"type": "boolean"},
        "properties": {"é/\t": {"const": 1}},
    },
    "one property at least": {**PLACE, "minProperties": 1, "maxProperties": 4},
    "tuple": one("a", {"type": "array", "prefixItems": [{"type": "boolean"}, {"const": 1}], "items": False}),
    "tuple as in draft 7": {"$schema": DRAFT_7}
    | one("a", {"type": "array", "items": [{"type": "boolean"}], "additionalItems": False}),
    "not unique": one(
        "a", {"type": "array", "items": {"type": "boolean"}, "uniqueItems": False, "maxItems": 3}
    ),
    "escaped reference": {"$ref": "#/$defs/a~1b~0c%20%2541", "$defs": {"a/b~c %41": PLACE}},
    "reference outside $defs": {
        **one("a", {"$ref": "#/properties/b"}),
        "properties": {"b": {"const": 1}, "a": {"$ref": "#/properties/b"}},
    },
    "recursive reference": {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
    "reference to the whole": {
        "type": "object",
        "properties": {"a": {"$ref": "#"}, "b": {"type": "null"}},
        "required": ["b"],
    },
    "address and draft": {"$id": "https://example.org/s", "$schema": DRAFT_7, **PLACE},
    "no types": {
        "properties": {"a": {"minimum": 3}, "b": {"maxLength": 2}, "c": {"maxItems": 0}},
        "required": ["a"],
    },
    "nested 10": nested(10),
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "false": (False, "/", "false"),
    "property that is false": (one("a", False), "/properties/a", "false"),
    "no schema": (one("a", 7), "/properties/a", "type"),
    "remote reference": (one("a", {"$ref": "https://example.org/x.json"}), "/properties/a", "$ref"),
    "missing reference": (one("a", {"$ref": "#/$defs/missing"}), "/properties/a", "$ref"),
    "anchor": ({**one("a", {"$ref": "#x"}), "$defs": {"x": {"$anchor": "x"}}}, "/properties/a", "$ref"),
    "address inside": (one("a", {"$id": "https://example.org/x", "type": "null"}), "/properties/a", "$id"),
    "endless reference": (
        {"$ref": "#/$defs/a", "$defs": {"a": one("b", {"$ref": "#/$defs/a"})}},
        "/$defs/a",
        "$ref",
    ),
    "endless where it may be left out": (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        },
        "/$defs/a",
        "$ref",
    ),
    "empty reference": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "/$defs/a", "$ref"),
    "part of itself": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [PLACE, {"anyOf": [{"$ref": "#/$defs/a"}, PLACE]}]}}},
        "/$defs/a",
        "$ref",
    ),
    "in a definition": ({**one("a", {"$ref": "#/$defs/x"}), "$defs": {"x": {"not": {}}}}, "/$defs/x", "not"),
    "unknown type": (
        one("a", {"anyOf": [{"type": "strin"}, {"type": "null"}]}),
        "/properties/a/anyOf/0",
        "type",
    ),
    "missing property": ({"type": "object", "properties": {}, "required": ["gone"]}, "/", "required"),
    "missing in allOf": ({"allOf": [PLACE, {"required": ["gone"]}]}, "/", "allOf"),
    "minimum above maximum": (
        one("a/b", {"type": "integer", "minimum": 7, "maximum": 5}),
        "/properties/a~1b",
        "minimum",
    ),
    "minimum beyond floats": (one("a", {"type": "integer", "minimum": 2**60}), "/properties/a", "minimum"),
    "bound that is text": (one("a", {"type": "integer", "minimum": "3"}), "/properties/a", "minimum"),
    "no integer between": (
        one("a", {"type": "integer", "minimum": 1.2, "maximum": 1.8}),
        "/properties/a",
        "minimum",
    ),
    "multipleOf 0": (one("a", {"type": "integer", "multipleOf": 0}), "/properties/a", "multipleOf"),
    "multipleOf too fine": (
        one("a", {"type": "integer", "multipleOf": 7654321}),
        "/properties/a",
        "multipleOf",
    ),
    "multipleOf too large to write": (
        one("a", {"type": "integer", "multipleOf": 99991}),
        "/properties/a",
        "multipleOf",
    ),
    "too many patterns": (
        one("a", {"allOf": [{"type": "string", "pattern": f"^.*k{i}.*$"} for i in range(20)]}),
        "/properties/a",
        "allOf",
    ),
    "format": (one("a", {"type": "string", "format": "postcode"}), "/properties/a", "format"),
    "look-around": (one("a", {"type": "string", "pattern": "(?=x)y"}), "/properties/a", "pattern"),
    "back reference": (listed({"type": "string", "pattern": r"^(a)\1$"}), "/properties/a/items", "pattern"),
    "set in a set": (one("a", {"type": "string", "pattern": "[a[b]]"}), "/properties/a", "pattern"),
    "set difference": (one("a", {"type": "string", "pattern": "[^x--y]"}), "/properties/a", "pattern"),
    "unwritable pattern": (one("a", {"type": "string", "pattern": "^\\x01$"}), "/properties/a", "pattern"),
    "unwritable constant": (one("a", {"const": "a\x01"}), "/properties/a", "const"),
    "half a character": (one("a", {"const": "\ud800"}), "/", "its text"),
    "maxLength below 0": (one("a", {"type": "string", "maxLength": -1}), "/properties/a", "maxLength"),
    "empty enum": (one("a", {"enum": []}), "/properties/a", "enum"),
    "enum of another type": (one("a", {"enum": [1], "type": "string"}), "/properties/a", "enum"),
    "if": (one("a", {"type": "object", "if": {}, "then": {}}), "/properties/a", "if"),
    "not": (one("a", {"type": "array", "items": {"not": {}}}), "/properties/a/items", "not"),
    "oneOf that overlaps": (
        one("a", {"oneOf": [{"type": "integer"}, {"type": "number"}]}),
        "/properties/a",
        "oneOf",
    ),
    "oneOf of open objects": ({"oneOf": [PLACE, LEVEL]}, "/", "oneOf"),
    **{
        keyword: (one("a", {"type": ["object", "array"], keyword: value}), "/properties/a", keyword)
        for keyword, value in {
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"a": {}},
            "dependencies": {"a": ["b"]},
            "propertyNames": {"pattern": "^a"},
            "unevaluatedProperties": False,
            "uniqueItems": True,
            "contains": {},
            "$dynamicRef": "#a",
        }.items()
    },
    "several properties": (
        {"type": "object", "additionalProperties": True, "minProperties": 2},
        "/",
        "minProperties",
    ),
    "properties as a list": ({"type": "object", "properties": ["a"]}, "/", "properties"),
    "nested 200": (nested(200), "/", "its size"),
    "nested 5,000": (nested_arrays(5000), "/", "its size"),
    "constant nested 130": (one("a", {"const": list_in_list(130)}), "/properties/a", "const"),
    "constant nested 900": (one("a", {"const": list_in_list(900)}), "/", "its size"),
    "too many properties": (
        {"type": "object", "properties": {f"p{i}": {} for i in range(5000)}},
        "/",
        "its size",
    ),
    "a megabyte": ({"enum": [f"{i:0100}" for i in range(10_000)]}, "/", "its size"),
    "not JSON": (one("a", {"const": float("nan")}), "/", "its text"),
}
