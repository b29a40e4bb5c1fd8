"""JSON under schemas on the tiny model, the ones that broke others included."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.errors import SkillError
from tests.engine.asking import (
    assert_exact,
    go_on,
    say,
)


def one(name: str, schema: object) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, "required": [name]}


def texts(limit: int) -> Callable[[Any], bool]:
    return lambda value: all(isinstance(item, str) and len(item) <= limit for item in value["a"])


NODE = {
    "type": "object",
    "properties": {"v": {"enum": [1, 2]}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["v"],
}
HARD: list[tuple[object, Callable[[Any], bool]]] = [
    ({"type": "object", "properties": {}}, lambda v: v == {}),
    (one("a", {}), lambda v: list(v) == ["a"]),
    (one("a", True), lambda v: list(v) == ["a"]),
    ({"$ref": "#/$defs/node", "$defs": {"node": NODE}}, lambda v: v["v"] in (1, 2)),
    (one("a", {"type": ["string", "null"], "enum": ["x", "y", None]}), lambda v: v["a"] in ("x", "y", None)),
    (one("a", {"type": "string", "pattern": r"\d{3}"}), lambda v: any(c.isdigit() for c in v["a"])),
    (one("a", {"type": "string", "pattern": r"^\d{3}$"}), lambda v: len(v["a"]) == 3 and v["a"].isdigit()),
    *(
        (one("a", {"type": "array", "items": {"type": "string", "maxLength": n}, "maxItems": 1}), texts(n))
        for n in (1999, 2000, 2001, 65536)
    ),
    (
        one("a", {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{1,3}$"}, "maxItems": 3}),
        texts(3),
    ),
    (one("a", {"type": "integer", "minimum": -7, "maximum": -5}), lambda v: v["a"] in (-7, -6, -5)),
    (one("a", {"type": "number"}), lambda v: math.isfinite(v["a"])),
    (one("a", {"type": "string", "format": "date-time"}), lambda v: bool(datetime.fromisoformat(v["a"]))),
    (one("a", {"type": "string", "format": "date"}), lambda v: len(v["a"]) == 10),
    (one("a", one("b", one("c", {"type": "boolean"}))), lambda v: v["a"]["b"]["c"] in (True, False)),
    (one("a/b~c", {"const": "x"}), lambda v: v == {"a/b~c": "x"}),
    ({"anyOf": [one("a", {"const": 1}), one("b", {"const": 2})]}, lambda v: v in ({"a": 1}, {"b": 2})),
    (True, lambda v: True),
    ({"type": "boolean"}, lambda v: v in (True, False)),
    ({"type": "integer"}, lambda v: isinstance(v, int)),
]


@pytest.mark.parametrize(("schema", "valid"), HARD)
@pytest.mark.parametrize("begin_call", [False, True])
def test_hard_schemas_give_valid_instances(
    decoder: Decoder, schema: Any, valid: Callable[[Any], bool], begin_call: bool
) -> None:
    tool = ToolSpec("do", "Does it.", schema) if begin_call and isinstance(schema, dict) else None
    prompt = Conversation((Message("user", "Three in Rome"),), tool, begin_call=tool is not None)
    filled = decoder.fill(prompt, schema, 48, go_on)
    assert filled.use.generated <= 48
    assert filled.use.sampled <= filled.use.generated
    if filled.finish == "stop":
        assert valid(json.loads(filled.text))
        assert filled.text == json.dumps(json.loads(filled.text), ensure_ascii=False) or "\\u" in filled.text
    else:
        assert filled.finish == "length"
        assert filled.use.generated == 48
    assert_exact(decoder)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        one("a", False),
        one("a", {"$ref": "http://x.example/y"}),
        {"type": "object", "required": ["gone"]},
    ],
)
def test_what_cannot_be_filled_is_refused_before_decoding(decoder: Decoder, schema: Any) -> None:
    with pytest.raises(SkillError):
        decoder.fill(say("x"), schema, 20, go_on)
    with pytest.raises(SkillError):
        decoder.vet(schema)
    assert decoder.evaluated == 0


def test_forced_tokens_are_not_sampled(decoder: Decoder) -> None:
    schema = one("a_rather_long_property_name", {"enum": ["one_long_value", "two_long_values"]})
    filled = decoder.fill(say("x"), schema, 48, go_on)
    assert json.loads(filled.text)["a_rather_long_property_name"] in ("one_long_value", "two_long_values")
    assert filled.use.sampled <= 2 < 10 < filled.use.generated
    assert_exact(decoder)


def test_what_is_wholly_forced_needs_no_model(decoder: Decoder) -> None:
    filled = decoder.fill(say("x"), {"type": "object", "properties": {}}, 8, go_on)
    assert (filled.text, filled.finish) == ("{}", "stop")
    assert decoder.evaluated == filled.use.prompt == 0
    assert_exact(decoder)


def test_a_string_that_goes_in_circles_is_closed(decoder: Decoder) -> None:
    prompt = say(
        "Repeat forever: la la la la la la la la la la la la", begin='{"a": "la la la la la la la la la'
    )
    filled = decoder.fill(prompt, one("a", {"type": "string"}), 400, go_on)
    assert filled.finish == "stop"
    assert isinstance(json.loads(filled.text)["a"], str)


def test_a_text_beyond_its_limit_says_so(decoder: Decoder) -> None:
    filled = decoder.fill(say("x"), one("a", {"type": "string", "minLength": 500}), 20, go_on)
    assert (filled.finish, filled.use.generated) == ("length", 20)
    short = decoder.fill(say("x"), one("a", {"type": "string"}), 1, go_on)
    assert (short.finish, short.use.generated) == ("length", 1)
    assert_exact(decoder)
