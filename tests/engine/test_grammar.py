"""Vetting without a model: what is refused, where, and why."""

from __future__ import annotations

from typing import Any

import pytest

from muleteer.engine.narrowing import LARGEST
from muleteer.engine.vetting import vet
from muleteer.errors import SkillError


def of(name: str, schema: object) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, "required": [name]}


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        (False, "/", "false"),
        (of("a", False), "/properties/a", "false"),
        (of("a", {"$ref": "https://example.org/x.json"}), "/properties/a", "$ref"),
        (of("a", {"type": "object", "if": {}}), "/properties/a", "if"),
        (of("a", {"type": "array", "items": {"not": {}}}), "/properties/a/items", "not"),
        (of("a", {"type": "array", "uniqueItems": True}), "/properties/a", "uniqueItems"),
        (of("a", {"type": "string", "format": "postcode"}), "/properties/a", "format"),
        (of("a", {"type": "string", "pattern": "(?=x)y"}), "/properties/a", "pattern"),
        (of("a/b", {"type": "integer", "minimum": 7, "maximum": 5}), "/properties/a~1b", "minimum"),
        ({"type": "object", "properties": {}, "required": ["gone"]}, "/", "required"),
        (of("a", {"anyOf": [{"type": "strin"}, {"type": "null"}]}), "/properties/a/anyOf/0", "type"),
        (of("a", {"$ref": "#/$defs/missing"}), "/properties/a", "$ref"),
        (of("a", 7), "/properties/a", "neither an object nor a boolean"),
    ],
)
def test_what_cannot_be_enforced_is_named(schema: object, pointer: str, keyword: str) -> None:
    with pytest.raises(SkillError) as caught:
        vet(schema)
    assert f"at {pointer} " in str(caught.value)
    assert keyword in str(caught.value)


def test_a_schema_cannot_loosen_its_own_checking() -> None:
    with pytest.raises(SkillError, match="not"):
        vet({"type": "object", "x-guidance": {"lenient": True}, "properties": {"a": {"not": {}}}})


def test_a_schema_without_end_is_refused() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        schema = {"type": "array", "items": schema}
    with pytest.raises(SkillError, match="deeper than"):
        vet(schema)


def test_objects_are_closed_and_the_schema_of_the_caller_is_not_changed() -> None:
    schema = of("a", {"type": "array", "items": {"type": "object", "properties": {}}})
    prepared = vet(schema)
    assert prepared["additionalProperties"] is False
    assert prepared["properties"]["a"]["items"]["additionalProperties"] is False
    assert "additionalProperties" not in schema
    assert "additionalProperties" not in schema["properties"]["a"]["items"]


def test_an_open_object_stays_open_where_the_schema_says_so() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    assert vet(schema)["additionalProperties"] == {"type": "string"}


def test_parts_of_a_combination_are_not_closed_against_each_other() -> None:
    parts = [of("a", {"type": "boolean"}), of("b", {"type": "boolean"})]
    vet({"allOf": parts})
    vet({**of("a", {"type": "boolean"}), "anyOf": [of("b", {"type": "null"}), {"required": ["a"]}]})
    assert vet({"anyOf": parts})["anyOf"][0]["additionalProperties"] is False


def test_numbers_get_bounds_only_where_they_have_none() -> None:
    assert vet({"type": "number"}) == {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
    assert vet({"type": ["integer", "null"], "minimum": 1})["maximum"] == LARGEST
    assert vet({"type": "integer", "enum": [10**20]}) == {"type": "integer", "enum": [10**20]}
