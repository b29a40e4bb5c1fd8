"""Grammars over the tiny model's tokens, without its weights: whatever they allow is valid."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest
from llguidance import LLTokenizer

from muleteer.engine.grammar import Grammars
from muleteer.engine.llama import Llama
from muleteer.errors import EngineError, SkillError
from muleteer.evaluate.schemas import FORMATS, pairs, valid
from tests.engine.schemas import ENFORCED, REFUSED, Schema, one
from tests.engine.walks import Wild, walk

TRIES = 6  # random texts of each schema
LONG = 400  # tokens
PAIRS = 60  # generated schemas; two random texts of each take some 4 s in all


@pytest.fixture(scope="module")
def tokenizer(native: Llama) -> LLTokenizer:
    return native.grammar_tokenizer([native.end])


@pytest.fixture(scope="module")
def grammars(native: Llama, tokenizer: LLTokenizer) -> Grammars:
    return Grammars(tokenizer, native.vocabulary)


@pytest.mark.parametrize("name", ENFORCED)
def test_whatever_a_hard_schema_allows_is_valid(
    grammars: Grammars, tokenizer: LLTokenizer, native: Llama, name: str
) -> None:
    for seed in range(TRIES):
        text = walk(grammars.matcher(ENFORCED[name]), tokenizer, Wild(native.vocabulary, seed))
        assert valid(ENFORCED[name], json.loads(text)), text
        assert text == json.dumps(json.loads(text), ensure_ascii=False) or any(map(str.isdigit, text))


def test_whatever_generated_schemas_allow_is_valid(
    grammars: Grammars, tokenizer: LLTokenizer, native: Llama
) -> None:
    wild = Wild(native.vocabulary, seed=1)
    for schema, _ in pairs(PAIRS, seed=2):
        for _ in range(2):
            text = walk(grammars.matcher(schema), tokenizer, wild)
            assert valid(schema, json.loads(text)), (schema, text)


@pytest.mark.parametrize("form", FORMATS)
def test_formats_are_what_parsers_accept(
    grammars: Grammars, tokenizer: LLTokenizer, native: Llama, form: str
) -> None:
    schema = {"type": "string", "format": form}
    for seed in range(30):
        text = walk(grammars.matcher(schema), tokenizer, Wild(native.vocabulary, seed))
        assert valid(schema, json.loads(text)), text


def takes(grammars: Grammars, tokenizer: LLTokenizer, schema: Schema, text: str) -> bool:
    """Whether a grammar lets a whole text through."""
    matcher = grammars.matcher(schema)
    while not matcher.done and text:
        rest = text.encode()
        logits = np.zeros(tokenizer.vocab_size, dtype=np.float32)
        wanted = tokenizer.tokenize_bytes(rest)[0]
        logits[wanted] = 1
        for token in matcher.forced() or [matcher.pick(logits)]:
            piece = tokenizer.decode_str([token])
            if not text.startswith(piece):
                return False
            text = text[len(piece) :]
    return not text


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date", ("2024-02-29", "0001-01-01", "2000-02-29"), ("2023-02-29", "1900-02-29", "0000-01-01")),
        ("time", ("23:59:59Z", "00:00:00.5+03:00"), ("23:59:60Z", "24:00:00Z", "12:00:00z", "12:00:00")),
        ("date-time", ("2024-02-29T23:59:59Z",), ("2023-02-29T00:00:00Z", "2024-02-29 23:59:59Z")),
        (
            "uri",
            ("https://a.example/b?c#d", "mailto:a@b.c", "http://x:80"),
            ("https://", "a b", "http://x:99999"),
        ),
    ],
)
def test_formats_take_what_exists_and_nothing_else(
    grammars: Grammars, tokenizer: LLTokenizer, form: str, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    schema = {"type": "string", "format": form}
    assert [text for text in good if not takes(grammars, tokenizer, schema, f'"{text}"')] == []
    assert [text for text in bad if takes(grammars, tokenizer, schema, f'"{text}"')] == []


@pytest.mark.parametrize(
    "text", ['{"a\\u00e9": "x"}', '{"\\u0061é": "x"}', '{"aé": "x"}', '{"b\\u0009": "x"}']
)
def test_a_name_that_is_taken_cannot_be_spelled_otherwise(
    grammars: Grammars, tokenizer: LLTokenizer, text: str
) -> None:
    schema = {
        "type": "object",
        "properties": {"aé": {"type": "integer"}, "b\t": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    assert takes(grammars, tokenizer, schema, '{"aé": 1}')
    assert not takes(grammars, tokenizer, schema, text)


def test_bad_schemas_do_not_spoil_the_good_ones(grammars: Grammars) -> None:
    for schema, _, _ in REFUSED.values():
        with pytest.raises(SkillError):
            grammars.matcher(schema)
        assert grammars.matcher(ENFORCED["no properties"]).forced()


def test_a_schema_whose_text_cannot_be_written_is_refused_when_it_is_compiled(grammars: Grammars) -> None:
    patterns = [{"type": "string", "pattern": f"^(.*k{i}.*){{3}}$", "maxLength": 2000} for i in range(200)]
    with pytest.raises(SkillError, match="too complex"):
        grammars.matcher({"anyOf": patterns})


def test_the_largest_multiple_can_be_written(
    grammars: Grammars, tokenizer: LLTokenizer, native: Llama
) -> None:
    schema = {"type": "integer", "multipleOf": 1999}
    for seed in range(TRIES):
        assert int(walk(grammars.matcher(schema), tokenizer, Wild(native.vocabulary, seed))) % 1999 == 0


def test_the_likeliest_allowed_token_is_picked(grammars: Grammars, tokenizer: LLTokenizer) -> None:
    matcher = grammars.matcher({"enum": [6, 7, 8, "x"]})
    logits = np.random.default_rng(0).random(tokenizer.vocab_size, dtype=np.float32)
    logits[tokenizer.tokenize_str("7")[-1]] = 3
    logits[tokenizer.tokenize_str("z")[-1]] = 9
    assert tokenizer.decode_str([matcher.pick(logits)]) == "7"


def test_a_token_to_avoid_is_taken_only_if_nothing_else_is_allowed(
    grammars: Grammars, tokenizer: LLTokenizer
) -> None:
    seven, eight = (tokenizer.tokenize_str(text)[-1] for text in "78")
    logits = np.zeros(tokenizer.vocab_size, dtype=np.float32)
    logits[seven] = 1
    matcher = grammars.matcher({"type": "integer", "minimum": 7, "maximum": 8})
    assert matcher.pick(logits, avoid=[seven]) == eight
    matcher = grammars.matcher({"type": "integer", "minimum": 7, "maximum": 8})
    assert matcher.pick(logits, avoid=[seven, eight]) == seven


def test_scores_that_are_no_numbers_are_an_error(grammars: Grammars, tokenizer: LLTokenizer) -> None:
    for nothing in (np.nan, -np.inf):
        logits = np.full(tokenizer.vocab_size, nothing, dtype=np.float32)
        with pytest.raises(EngineError, match="no finite score"):
            grammars.matcher({"type": "boolean"}).pick(logits)


def test_the_end_is_found_from_within_a_text(grammars: Grammars, tokenizer: LLTokenizer) -> None:
    schema = one("a", {"type": "string", "format": "email"})
    matcher = grammars.matcher(schema)
    written = matcher.forced()
    logits = np.zeros(tokenizer.vocab_size, dtype=np.float32)
    logits[tokenizer.tokenize_str("me")[-1]] = 1
    written += [matcher.pick(logits) for _ in range(60)]
    new = [matcher.pick(logits)]
    assert matcher.ending(written, new, limit=300) is None  # there is much room
    limit = len(written) + 10
    assert matcher.ending(written, new, limit) is None  # there is enough
    while (ending := matcher.ending(written, new, limit)) is None:
        limit -= 1
    assert len(written) + len(ending) == limit  # the last moment
    assert valid(schema, json.loads(tokenizer.decode_str(written + ending)))


@pytest.mark.parametrize(
    "pattern",
    [r"^(.*k25.*){3}$", r"^.*59bk.*59bk.*59bk.*$", r"^.*ak.*2b.*5a9.*$", r"^.*2k.*k2.*$", r"^(.*22a.*){4}$"],
)
def test_a_pattern_with_many_loops_and_a_length_never_makes_the_decoder_give_up(
    grammars: Grammars, tokenizer: LLTokenizer, native: Llama, pattern: str
) -> None:
    schema: Schema = one("text", {"type": "string", "pattern": pattern, "maxLength": 2000})
    parts = [tokenizer.tokenize_str(part)[0] for part in ("2", "k", "a", "5", "9", "b", "k2", "25")]
    for seed in range(8):
        matcher, wild, likes = grammars.matcher(schema), Wild(native.vocabulary, seed), Random(seed)
        written = matcher.forced()
        while not matcher.done and len(written) < LONG:
            logits = wild.logits()
            logits[[part for part in parts if likes.random() < 0.3]] += 1
            written += [matcher.pick(logits), *matcher.forced()]
        if matcher.done:
            assert valid(schema, json.loads(tokenizer.decode_str(written)))


def test_a_bracket_too_many_ends_the_text_and_is_not_replaced_by_something_worse(
    grammars: Grammars, tokenizer: LLTokenizer
) -> None:
    (surplus,), (zero,) = tokenizer.tokenize_str("}}"), tokenizer.tokenize_str("0")
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    matcher, text = grammars.matcher(schema), ""
    while not matcher.done:
        text += tokenizer.decode_str(matcher.forced())
        left = '{"x": 2'.removeprefix(text)
        logits = np.zeros(tokenizer.vocab_size, dtype=np.float32)
        logits[zero] = 1  # what a model would rather write than a single bracket
        logits[tokenizer.tokenize_str(left)[0] if left else surplus] = 2
        text += tokenizer.decode_str([matcher.pick(logits)])
    assert text == '{"x": 2}'
