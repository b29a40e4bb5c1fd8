"""JSON under schemas on the tiny model, the ones that broke others included."""

from __future__ import annotations

import json
import re

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.errors import SkillError
from muleteer.evaluate.schemas import pairs, valid
from tests.engine.asking import assert_exact, go_on, say
from tests.engine.schemas import ENFORCED, REFUSED, one

LIMIT = 48  # tokens; what is longer is ended the short way
PAIRS = 12  # generated ones; the benchmark runs 1,000


@pytest.mark.parametrize("name", ENFORCED)
def test_hard_schemas_give_valid_instances(decoder: Decoder, name: str) -> None:
    schema, begin_call = ENFORCED[name], len(name) % 2 == 0 and name != "enum of 5,000"
    tools = (ToolSpec("do", "Does it.", schema),) if begin_call and isinstance(schema, dict) else ()
    prompt = Conversation((Message("user", "Three in Rome"),), tools, begin_call=bool(tools))
    filled = decoder.fill(prompt, schema, LIMIT, go_on)
    assert valid(schema, json.loads(filled.text)), filled.text
    assert filled.use.sampled <= filled.use.generated <= LIMIT
    assert_exact(decoder)


def test_generated_schemas_give_valid_instances(decoder: Decoder) -> None:
    for schema, text in pairs(PAIRS, seed=4):
        filled = decoder.fill(say(text), schema, 280, go_on)
        assert valid(schema, json.loads(filled.text)), (schema, filled.text)
    assert_exact(decoder)


@pytest.mark.parametrize("name", ["false", "remote reference", "missing property", "not", "nested 5,000"])
def test_what_cannot_be_filled_is_refused_before_decoding(decoder: Decoder, name: str) -> None:
    schema, _, keyword = REFUSED[name]
    with pytest.raises(SkillError, match=re.escape(f"({keyword})")):
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


def test_a_text_that_would_not_fit_is_ended_and_says_so(decoder: Decoder) -> None:
    schema = one("text", {"type": "string", "minLength": 20})
    schema["properties"]["n"] = {"enum": [1, 2]}
    schema["required"] = ["text", "n"]
    prompt = say("Tell me the story of a mule that carries a heavy bag up a long hill.")
    filled = decoder.fill(prompt, schema, 24, go_on)
    assert filled.finish == "length"
    assert filled.use.generated <= 24
    assert valid(schema, json.loads(filled.text))
    assert_exact(decoder)


def test_a_text_beyond_its_limit_says_so(decoder: Decoder) -> None:
    filled = decoder.fill(say("x"), one("a", {"type": "string", "minLength": 500}), 20, go_on)
    assert (filled.finish, filled.use.generated) == ("length", 20)
    short = decoder.fill(say("x"), one("a", {"type": "string"}), 1, go_on)
    assert (short.finish, short.use.generated) == ("length", 1)
    assert_exact(decoder)
