"""Requests on the tiny model: real decoding, every token accounted for."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, Message, Text, ToolSpec, Use
from muleteer.errors import EngineError, RequestError, SkillError, TooLongError

MENU = "Pick a handle.\n@clock: the time\n@check: a check\n@check-notebook: notes\n@reply: anything else"
HANDLES = ("clock", "check", "check-notebook", "check-calendar", "reply")
PLACE = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "utc": {"type": "boolean"}},
    "required": ["place", "utc"],
}
CLOCK = ToolSpec("clock", "Tells the time somewhere.", PLACE)


class CancelledError(Exception):
    """What this test's `check` raises."""


def go_on() -> None:
    """A `check` that never cancels."""


def cancel_after(looks: int) -> Callable[[], None]:
    """A `check` that cancels when it is called once more than `looks` times."""
    left = iter(range(looks))

    def check() -> None:
        if next(left, None) is None:
            raise CancelledError

    return check


def say(*words: str, system: str = "Be brief.", constant: int = 0, begin: str = "") -> Conversation:
    roles = ("user", "assistant")
    messages = [Message(roles[i % 2], text) for i, text in enumerate(words)]  # type: ignore[arg-type]  # roles
    return Conversation((Message("system", system), *messages), None, constant, begin)


def write(decoder: Decoder, prompt: Conversation, limit: int, *stop: str) -> tuple[list[str], Text]:
    *chunks, text = decoder.write(prompt, limit, stop, go_on)
    assert isinstance(text, Text)
    assert "".join(str(chunk) for chunk in chunks) == text.text
    return [str(chunk) for chunk in chunks], text


def assert_exact(decoder: Decoder) -> None:
    """The ledger equals what llama_decode was given."""
    totals = decoder.totals
    assert totals.prompt == totals.reused + totals.decoded
    assert decoder.evaluated == totals.decoded + totals.generated - decoder.unevaluated


# Loading.


def test_properties_are_found_by_a_test_that_leaves_nothing_behind(loaded: Decoder) -> None:
    properties = loaded.properties
    assert (properties.context, properties.trained_context, properties.vocabulary) == (512, 8192, 49152)
    assert not properties.template_knows_tools
    assert properties.partial_reuse
    assert properties.size == 98_362_432
    assert properties.kv_bytes == 512 * 30 * 3 * 128 * 2
    assert properties.load_ms > 0


def test_nothing_is_resident_after_forgetting(decoder: Decoder) -> None:
    assert decoder.resident_tokens == 0
    assert decoder.totals == Use()


# Reuse and the ledger.


def test_a_prompt_costs_what_count_says(decoder: Decoder) -> None:
    prompt = say("What is 2 + 2?")
    _, text = write(decoder, prompt, 3)
    assert text.use.prompt == decoder.count(prompt) == text.use.decoded
    assert decoder.count("two words") == 2
    assert_exact(decoder)


def test_reuse_changes_no_answer(decoder: Decoder) -> None:
    prompts = [say(f"Name {n} fruits.", system="You know fruits well. " * 8) for n in ("two", "three")]
    fresh = []
    for prompt in prompts:
        decoder.forget()
        fresh.append(write(decoder, prompt, 16)[1])
    decoder.forget()
    again = [write(decoder, prompt, 16)[1] for prompt in (*prompts, *prompts)]
    assert [text.text for text in again] == [text.text for text in fresh] * 2
    assert [text.use.reused > 40 for text in again] == [False, True, True, True]
    assert again[2].use.decoded == again[3].use.decoded == 1
    assert_exact(decoder)


def test_the_next_turn_reuses_what_was_written(decoder: Decoder) -> None:
    _, first = write(decoder, say("Name two fruits."), 12)
    held = decoder.resident_tokens
    _, second = write(decoder, say("Name two fruits.", first.text, "And two more."), 4)
    assert second.use.reused == held == first.use.prompt + first.use.generated - 1
    assert_exact(decoder)


def test_a_call_that_comes_back_is_reused(decoder: Decoder) -> None:
    ask = (Message("system", "Call."), Message("user", "The time in Rome?"))
    filled = decoder.fill(Conversation(ask, CLOCK, begin_call=True), PLACE, 40, go_on)
    held = decoder.resident_tokens
    back = (*ask, Message("assistant", "", ("clock", filled.text)), Message("tool", "12:04"))
    _, answer = write(decoder, Conversation(back, CLOCK), 4)
    assert answer.use.reused == held
    assert_exact(decoder)


def test_a_constant_part_is_decoded_once_and_kept(decoder: Decoder) -> None:
    examples = say("hi", "@reply", system=MENU, constant=3)
    use = decoder.warm(examples, go_on)
    assert use.decoded == use.prompt == decoder.resident_tokens > 40
    assert decoder.warm(examples, go_on).decoded == 0
    for n in range(10):  # enough to push every unpinned sequence out
        choice = decoder.choose(
            say("hi", "@reply", f"What is {n}?", system=MENU, constant=3, begin="@"), HANDLES, go_on
        )
        assert choice.use.reused >= use.prompt
        write(decoder, say(f"Unrelated {n} " * 5), 2)
    assert_exact(decoder)


def test_a_constant_part_is_pinned_by_its_first_use(decoder: Decoder) -> None:
    first = decoder.choose(say("one", system=MENU, constant=1, begin="@"), HANDLES, go_on)
    for n in range(9):
        write(decoder, say(f"Unrelated {n} " * 5), 2)
    second = decoder.choose(say("two", system=MENU, constant=1, begin="@"), HANDLES, go_on)
    assert first.use.reused == 0
    assert second.use.decoded < 12
    assert_exact(decoder)


def test_any_sequence_of_requests_is_counted_exactly(decoder: Decoder) -> None:
    rng = random.Random(7)
    words = ["time", "Rome", "apple", "now", "why", "水"]
    for _ in range(25):
        prompt = say(
            *[" ".join(rng.choices(words, k=rng.randint(1, 30))) for _ in range(rng.choice([1, 1, 3]))],
            system=rng.choice([MENU, "Be brief.", "Be very brief."]),
            constant=rng.choice([0, 1]),
            begin=rng.choice(["", "@"]),
        )
        before = decoder.evaluated
        match rng.choice(["choose", "fill", "write", "warm", "cancel"]):
            case "choose":
                use = decoder.choose(prompt, rng.sample(HANDLES, rng.randint(1, 5)), go_on).use
            case "fill":
                use = decoder.fill(prompt, PLACE, 12, go_on).use
            case "write":
                use = write(decoder, prompt, rng.randint(1, 6))[1].use
            case "warm":
                use = decoder.warm(prompt, go_on)
            case _:
                with pytest.raises(CancelledError):
                    list(decoder.write(prompt, 50, (), cancel_after(rng.randint(0, 4))))
                use = Use()
        assert use.prompt == use.reused + use.decoded
        assert use.decoded <= decoder.evaluated - before or use == Use()
        assert decoder.resident_tokens <= 512
        assert_exact(decoder)


def test_what_does_not_fit_any_more_is_evicted(decoder: Decoder) -> None:
    for n in range(5):
        _, text = write(decoder, say(f"{n} " + "word " * 200), 2)
        assert text.use.decoded > 200
        assert decoder.resident_tokens <= 512
    assert_exact(decoder)


def test_a_prompt_that_fills_the_context_is_served_even_beside_pins(decoder: Decoder) -> None:
    for n in range(3):
        decoder.warm(say("x", system=f"{n} " + "word " * 60, constant=1), go_on)
    room = 512 - decoder.count(say("word " * 440))
    _, text = write(decoder, say("word " * 440), room)
    assert text.use.prompt + text.use.generated <= 512
    assert_exact(decoder)


# Limits and cancels.


def test_too_long_is_refused_before_anything_is_decoded(decoder: Decoder) -> None:
    long = say("word " * 700)
    count = decoder.count(long)
    for request in (
        lambda: list(decoder.write(long, 10, (), go_on)),
        lambda: decoder.fill(long, PLACE, 10, go_on),
        lambda: decoder.choose(long, HANDLES, go_on),
    ):
        with pytest.raises(TooLongError, match=rf"{count} tokens.* context of 512"):
            request()
    with pytest.raises(TooLongError, match=r"has \d+ tokens and may have 5"):
        decoder.choose(say("short"), HANDLES, go_on, prompt_limit=5)
    with pytest.raises(TooLongError, match="with 510 for the output"):
        list(decoder.write(say("short"), 510, (), go_on))
    with pytest.raises(TooLongError):
        decoder.warm(say("x", system="word " * 700, constant=1), go_on)
    assert decoder.evaluated == 0
    assert decoder.totals.decoded == 0


@pytest.mark.parametrize("looks", [0, 2, 5, 7])
def test_a_cancel_in_prefill_or_decoding_leaves_it_working(decoder: Decoder, looks: int) -> None:
    prompt = say("Tell me a long story about a mule.", system="word " * 110)
    _, expected = write(decoder, prompt, 8)
    decoder.forget()
    with pytest.raises(CancelledError):
        list(decoder.write(prompt, 100, (), cancel_after(looks)))
    done = decoder.evaluated
    assert done <= looks * 32
    assert_exact(decoder)
    _, text = write(decoder, prompt, 8)
    assert text.text == expected.text
    assert text.use.reused == min(done, text.use.prompt - 1)
    with pytest.raises(CancelledError):
        decoder.choose(say("a", begin="@"), HANDLES, cancel_after(1))
    with pytest.raises(CancelledError):
        decoder.fill(say("a"), PLACE, 50, cancel_after(3))
    assert_exact(decoder)


def test_a_writer_may_walk_away(decoder: Decoder) -> None:
    chunks = decoder.write(say("Tell me a story."), 100, (), go_on)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]  # it is a generator
    assert_exact(decoder)
    assert write(decoder, say("Tell me a story."), 2)[1].use.decoded == 1


# choose.


def test_choose_equals_scoring_every_option_alone(decoder: Decoder) -> None:
    """Against the definition: at each token the softmax over the tokens that options allow there."""
    prompt = say("Check the notes", system=MENU, begin="@")
    chat, native = decoder._chat, decoder._llama
    options = [(*chat.foreign("@" + handle)[1:], chat.end) for handle in HANDLES]
    rendered = chat.render(prompt).tokens

    def logits(path: tuple[int, ...]) -> Any:
        decoder.forget()
        with decoder._ledger.request() as meter:
            _, row = decoder._cache.open([*rendered, *path], 0, (), go_on, meter)
            return np.array(row, dtype=np.float64)

    expected = []
    for option in options:
        probability = 1.0
        for depth in range(len(option)):
            allowed = {o[depth] for o in options if o[:depth] == option[:depth]}
            if len(allowed) > 1:
                row = logits(option[:depth])
                probability *= math.exp(row[option[depth]] - np.logaddexp.reduce([row[t] for t in allowed]))
        expected.append(probability)
    decoder.forget()
    assert native.evaluated == 0
    choice = decoder.choose(prompt, HANDLES, go_on)
    assert choice.probabilities == pytest.approx(expected, abs=0.01)
    assert sum(choice.probabilities) == pytest.approx(1)
    assert choice.use.generated == 2  # `check` and `check-`, each decoded once
    assert choice.use.sampled == 0


def test_the_order_of_options_does_not_matter(decoder: Decoder) -> None:
    prompt = say("Check the notes", system=MENU, begin="@")
    forward = decoder.choose(prompt, HANDLES, go_on).probabilities
    backward = decoder.choose(prompt, HANDLES[::-1], go_on).probabilities
    assert backward[::-1] == pytest.approx(forward, abs=0.01)


def test_many_options_that_share_much(decoder: Decoder) -> None:
    options = [
        f"{a}-{b}-{c}" for a in ("red", "green", "blue") for b in ("one", "two", "three") for c in "xyz"
    ]
    choice = decoder.choose(say("Pick."), options, go_on)
    assert len(choice.probabilities) == 27
    assert sum(choice.probabilities) == pytest.approx(1)
    assert all(p >= 0 for p in choice.probabilities)
    assert_exact(decoder)


def test_one_option_is_certain(decoder: Decoder) -> None:
    assert decoder.choose(say("Pick."), ["only"], go_on).probabilities == (1.0,)


@pytest.mark.parametrize("options", [[], ["a", "a"]])
def test_choose_needs_different_options(decoder: Decoder, options: list[str]) -> None:
    with pytest.raises(RequestError):
        decoder.choose(say("Pick."), options, go_on)


# fill.


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


# write.


def test_text_streams_and_is_whole(decoder: Decoder) -> None:
    chunks, text = write(decoder, say("What is the capital of France?"), 20)
    assert "Paris" in text.text
    assert text.finish in ("stop", "length")
    assert len(chunks) > 3
    assert "<|" not in text.text
    assert text.use.sampled == text.use.generated <= 20


def test_a_stop_string_over_several_tokens_is_never_shown(decoder: Decoder) -> None:
    whole = write(decoder, say("What is the capital of France?"), 20)[1].text
    stop = whole[len(whole) // 3 : len(whole) // 3 + 9]
    chunks, text = write(decoder, say("What is the capital of France?"), 20, "never", stop)
    assert text.text == whole[: whole.index(stop)]
    assert text.finish == "stop"
    assert stop[0] not in chunks[-1] or stop not in "".join(chunks)
    assert_exact(decoder)


def test_the_token_limit_is_the_callers(decoder: Decoder) -> None:
    _, text = write(decoder, say("Tell me a long story about a mule."), 7)
    assert (text.finish, text.use.generated) == ("length", 7)


def test_a_text_that_goes_in_circles_ends(decoder: Decoder) -> None:
    prompt = say("Say ha forever.", begin="ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha")
    _, text = write(decoder, prompt, 500)
    assert text.finish == "repetition"
    assert text.use.generated < 200


def test_a_call_prompt_is_for_fill(decoder: Decoder) -> None:
    call = Conversation((Message("user", "x"),), CLOCK, begin_call=True)
    with pytest.raises(RequestError):
        decoder.choose(call, ["a"], go_on)
    with pytest.raises(RequestError):
        next(decoder.write(call, 5, (), go_on))
    with pytest.raises(EngineError):
        decoder.fill(Conversation((Message("user", "x"),), begin_call=True), PLACE, 5, go_on)
