"""Vetting without a model: what is refused, where and why; what is enforced, and how."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muleteer.engine.narrowing import LARGEST, SHAPES, UNSUPPORTED
from muleteer.engine.vetting import vet
from muleteer.errors import SkillError
from tests.engine.schemas import ENFORCED, LEVEL, PLACE, REFUSED, one

SLOW = (
    2.0  # seconds for a stranger's schema, on a busy machine; the worst one here takes 0.4 s on an idle one
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_enforced_is_named(name: str) -> None:
    schema, pointer, keyword = REFUSED[name]
    with pytest.raises(SkillError) as caught:
        vet(schema)
    assert f"The schema at {pointer} cannot be enforced ({keyword}): " in str(caught.value)


@pytest.mark.parametrize("name", ENFORCED)
def test_what_can_be_enforced_is_taken_and_left_as_it_is(name: str) -> None:
    before = json.dumps(ENFORCED[name])
    assert vet(ENFORCED[name])
    assert json.dumps(ENFORCED[name]) == before


def test_a_schema_cannot_loosen_its_own_checking() -> None:
    schema = {
        "type": "object",
        "x-guidance": {"lenient": True, "whitespace_flexible": True},
        "properties": {},
    }
    assert vet(schema) == vet({"type": "object", "properties": {}})
    with pytest.raises(SkillError, match="not"):
        vet({**schema, "properties": {"a": {"not": {}}}})


def test_objects_are_closed_wherever_they_are() -> None:
    prepared = vet(one("a", {"type": "array", "items": {"type": "object", "properties": {}}}))
    assert prepared["additionalProperties"] is False
    assert prepared["properties"]["a"]["items"]["additionalProperties"] is False


def test_an_open_object_stays_open_where_the_schema_says_so() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    assert vet(schema)["additionalProperties"] == {"type": "string"}


def test_parts_of_a_combination_are_closed_around_the_names_of_all() -> None:
    for part in vet({"allOf": [PLACE, LEVEL]})["allOf"]:
        assert list(part["properties"]) in (["place", "level"], ["level", "place"])
        assert part["additionalProperties"] is False


def test_alternatives_do_not_get_each_others_names() -> None:
    schema = vet({"type": "object", "properties": {"a": {"const": 1}}, "anyOf": [PLACE, LEVEL]})
    assert [set(part["properties"]) for part in schema["anyOf"]] == [{"a", "place"}, {"a", "level"}]
    assert set(schema["properties"]) == {"a", "place", "level"}


def test_a_definition_is_closed_by_itself_and_in_company() -> None:
    schema = vet(
        {**one("alone", {"$ref": "#/$defs/p"}), "allOf": [{"$ref": "#/$defs/p"}], "$defs": {"p": PLACE}}
    )
    assert list(schema["$defs"]["/$defs/p"]["properties"]) == ["place"]
    assert set(schema["allOf"][0]["allOf"][0]["properties"]) == {"alone", "place"}


def test_numbers_get_bounds_only_where_they_have_none() -> None:
    assert vet({"type": "number"}) == {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
    assert vet({"type": ["integer", "null"], "minimum": 1})["maximum"] == LARGEST
    assert vet({"type": "integer", "enum": [10**20]}) == {"type": "integer", "enum": [10**20]}


def objects(count: int, properties: int) -> list[dict[str, Any]]:
    return [
        {"type": "object", "properties": {f"p{i}_{j}": {"type": "string"} for j in range(properties)}}
        for i in range(count)
    ]


def doubled(depth: int) -> dict[str, Any]:
    """A definition that is twice part of the one before it, and so on: 2 ** depth copies."""
    parts = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(depth)}
    return {"$ref": "#/$defs/d0", "type": "object", "$defs": {**parts, f"d{depth}": PLACE}}


HEAVY: dict[str, object] = {
    "enum": {"enum": [f"{i:040}" for i in range(5000)]},
    "enum of objects": {"enum": [{"a": i, "b": [i]} for i in range(9000)]},
    "alternatives": {"anyOf": objects(100, 3)},
    "tags": {"oneOf": [one("tag", {"const": i}) for i in range(140)]},
    "all together": {"allOf": objects(100, 3)},
    "doubled references": doubled(30),
    "products": {"allOf": [{"anyOf": [{"type": "string", "maxLength": i} for i in range(1, 40)]}] * 9},
    "repetition": {"type": "string", "pattern": "^(a{1000}){1000}$"},
    "nested repetition": {"type": "string", "pattern": "^((([a-z]{1,50}x){1,50}y){1,50}z){1,50}$"},
    "long": {"type": "string", "minLength": 10**9, "maxLength": 2 * 10**9},
    "many": {"type": "array", "items": PLACE, "minItems": 10**9},
    "one fault among many": {
        "type": "object",
        "properties": {f"p{i}": {"enum": [f"{i:0900}"]} for i in range(200)}
        | {"x": {"type": "string", "pattern": "(?=a)"}},
    },
    "patterns": {"type": "object", "patternProperties": {f"^{i:03}.{{1,20}}$": {} for i in range(150)}},
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_strangers_schema_does_not_stall_the_engine(name: str) -> None:
    began = time.process_time()
    with contextlib.suppress(SkillError):
        vet(HEAVY[name])
    assert time.process_time() - began < SLOW


KEYWORDS = [*SHAPES, *UNSUPPORTED[:3], "$defs", "$id", "description", "uniqueItems", "additionalItems"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**19), 10**19)
    | st.floats()
    | st.sampled_from(
        ["string", "object", "array", "integer", "#", "#/$defs/a", "a", "^a", "\ud800", "[", "date"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b/~", *KEYWORDS]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYWORDS), JSON, max_size=5))
def test_nonsense_is_taken_or_refused_and_nothing_else(schema: dict[str, Any]) -> None:
    with contextlib.suppress(SkillError):
        assert isinstance(vet(schema), dict)
