"""JSON schemas as grammars over tokens, through llguidance.

A schema is vetted first: what cannot be enforced is refused with its JSON pointer and keyword, never
ignored. Knows nothing of llama.cpp or prompts: logits come in, tokens go out.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import llguidance.numpy as bitmasks
import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from muleteer.engine.protocol import JsonSchema
from muleteer.errors import EngineError, SkillError

Schema = dict[str, Any]

# The JSON that models were trained on; with compact separators the 1.5B model lost minus signs.
STYLE: Any = {  # llguidance has a type for this and does not export it
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": False,
    "coerce_one_of": False,
}
LARGEST = 10**15  # bound of a number without bounds: no exponent, so no infinity, and no endless digits
CLOSING = ('"', "}", "]", ",")  # tried in this order: inside a string only the first one ends it
COMPILED = 64  # grammars kept: more than a household has tools; a typical one takes some 100 kB
DEEPEST = 64  # schemas in schemas; far beyond any tool, well below the recursion limit
MAPS = ("properties", "patternProperties", "$defs", "definitions")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLES = ("items", "additionalProperties")
STRUCTURE = ("type", "properties", "items", "additionalProperties")  # blamed only when nothing else is
COMBINED = ("allOf", "anyOf", "oneOf", "$ref")


def vet(schema: object) -> Schema:
    """The schema as it is enforced: objects closed, numbers bounded. Raises `SkillError` that names the JSON
    pointer and the keyword of what cannot be enforced."""
    prepared = _prepare(schema, "", close=True)
    if isinstance(prepared, bool):
        raise SkillError("The schema at / is `false`, which no value satisfies.")
    if complaint := _complaint(prepared):
        pointer, keyword = _fault(prepared, prepared, "")
        raise SkillError(f"The schema at {pointer or '/'} cannot be enforced ({keyword}): {complaint}")
    return prepared


def _prepare(schema: object, pointer: str, close: bool) -> Schema | bool:
    if isinstance(schema, bool):
        return {} if schema else False
    if not isinstance(schema, Mapping):
        raise SkillError(f"The schema at {pointer or '/'} is neither an object nor a boolean.")
    if pointer.count("/") > 2 * DEEPEST:
        raise SkillError(f"The schema is nested deeper than {DEEPEST} levels.")
    reference = schema.get("$ref")
    if reference is not None and not str(reference).startswith("#"):
        raise SkillError(f"The schema at {pointer or '/'} cannot be enforced ($ref): {reference} is remote.")
    prepared: Schema = {str(key): value for key, value in schema.items() if key != "x-guidance"}
    is_object = _may_be(prepared, "object") or "properties" in prepared
    combined = is_object and any(key in prepared for key in COMBINED)
    for key, path, below in _below(prepared):
        part = key == "allOf" or (combined and key in COMBINED)
        inner = _prepare(below, f"{pointer}/{path}", close=not part)
        _put(prepared, path, inner)
    if is_object and close and not combined:
        prepared.setdefault("additionalProperties", False)
    numeric = _may_be(prepared, "number") or _may_be(prepared, "integer")
    if numeric and not {"multipleOf", "enum", "const"} & prepared.keys():
        if not {"minimum", "exclusiveMinimum"} & prepared.keys():
            prepared["minimum"] = -LARGEST
        if not {"maximum", "exclusiveMaximum"} & prepared.keys():
            prepared["maximum"] = LARGEST
    return prepared


def _may_be(schema: Mapping[str, object], kind: str) -> bool:
    kinds = schema.get("type")
    return kind in kinds if isinstance(kinds, list | tuple) else kinds == kind


def _below(schema: Mapping[str, object]) -> Iterator[tuple[str, str, object]]:
    """The schemas inside a schema: (keyword, path from here, schema)."""
    for key in MAPS:
        value = schema.get(key)
        if isinstance(value, Mapping):
            yield from ((key, f"{key}/{_escape(str(name))}", below) for name, below in value.items())
    for key in LISTS:
        value = schema.get(key)
        if isinstance(value, list | tuple):
            yield from ((key, f"{key}/{i}", below) for i, below in enumerate(value))
    for key in SINGLES:
        value = schema.get(key)
        if isinstance(value, Mapping) or (key == "items" and value is True):
            yield key, key, value


def _put(schema: Schema, path: str, value: Schema | bool) -> None:
    """Replace the schema at a path of one or two steps, copying what is shared with the caller."""
    key, _, step = path.partition("/")
    holder = schema[key]
    if not step:
        schema[key] = value
    elif isinstance(holder, Mapping):
        schema[key] = {**holder, _unescape(step): value}
    elif isinstance(holder, list | tuple):
        schema[key] = [*holder[: int(step)], value, *holder[int(step) + 1 :]]


def _complaint(schema: Schema) -> str:
    """What llguidance has against a schema; empty if nothing."""
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=STYLE)
    message: str = LLMatcher.validate_grammar(grammar)
    return " ".join(message.split())


def _fault(schema: Schema, root: Schema, pointer: str) -> tuple[str, str]:
    """Where the fault is: the innermost schema that fails by itself, and the keyword without which it would
    not. Best effort, since keywords can also fail together."""
    shared: Schema = {key: root[key] for key in ("$defs", "definitions") if key in root}
    for _, path, below in _below(schema):
        if isinstance(below, dict) and _complaint({**shared, **below}):
            return _fault(below, root, f"{pointer}/{path}")
        if below is False and path.startswith(("items", "properties")):
            return f"{pointer}/{path}", "false"
    for key in sorted(schema, key=lambda key: key in STRUCTURE):
        if key not in shared and not _complaint({**shared, **{k: v for k, v in schema.items() if k != key}}):
            return pointer, key
    return pointer, "several keywords together"


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _unescape(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


class Grammars:
    """Compiled schemas for one vocabulary."""

    def __init__(self, tokenizer: LLTokenizer, vocabulary: int) -> None:
        self._tokenizer, self._vocabulary = tokenizer, vocabulary
        self._closing: list[int] = [tokenizer.tokenize_str(text)[-1] for text in CLOSING]
        self._compiled: OrderedDict[tuple[str, str], LLMatcher] = OrderedDict()

    def matcher(self, schema: JsonSchema, lead: str = "") -> Matcher:
        """A fresh matcher for text that is `lead` (white space) and then JSON. Raises `SkillError`."""
        key = json.dumps(schema), lead
        compiled = self._compiled.pop(key, None) or self._compile(vet(schema), lead)
        self._compiled[key] = compiled
        while len(self._compiled) > COMPILED:
            self._compiled.popitem(last=False)
        return Matcher(compiled.deep_copy(), self._vocabulary, self._closing)

    def _compile(self, schema: Schema, lead: str) -> LLMatcher:
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=STYLE)
        if lead:
            text = json.dumps({**schema, "x-guidance": STYLE})
            grammar = f"start: {json.dumps(lead)} json\njson: %json {text}"
        compiled = LLMatcher(self._tokenizer, grammar, log_level=0)
        if compiled.is_error():
            raise SkillError(f"The schema cannot be enforced: {compiled.get_error().splitlines()[0]}")
        return compiled


class Matcher:
    """One text being written under a grammar."""

    def __init__(self, matcher: LLMatcher, vocabulary: int, closing: Sequence[int]) -> None:
        self._matcher, self._vocabulary, self._closing = matcher, vocabulary, closing
        self._mask = bitmasks.allocate_token_bitmask(1, vocabulary)

    @property
    def done(self) -> bool:
        """Whether nothing may follow. Raises `EngineError` if the grammar gave up."""
        self._check()
        return bool(self._matcher.is_stopped())

    def forced(self) -> list[int]:
        """Take the tokens that the grammar leaves no choice about."""
        tokens: list[int] = [] if self.done else self._matcher.compute_ff_tokens()
        if tokens:
            self._matcher.consume_tokens(tokens)
            self._check()
        return tokens

    def pick(self, logits: NDArray[np.float32], avoid: Collection[int] = ()) -> int:
        """Take the most likely allowed token. To leave a loop, given its tokens to `avoid`: what ends a
        string or a number if that is allowed, else another token if one is."""
        ends = (token for token in self._closing if avoid and self._matcher.validate_tokens([token]) == 1)
        token = next(ends, None)
        if token is None:
            token = self._likeliest(logits, avoid)
        if not np.isfinite(logits[token]):
            raise EngineError("The model gave no finite score for a token; its file may be damaged.")
        self._matcher.consume_token(token)
        self._check()
        return token

    def _likeliest(self, logits: NDArray[np.float32], avoid: Collection[int]) -> int:
        token = int(logits.argmax())
        if token in avoid or self._matcher.validate_tokens([token]) != 1:
            allowed = self._allowed()
            if avoid:
                rest = allowed[~np.isin(allowed, list(avoid))]
                allowed = rest if rest.size else allowed
            token = int(allowed[logits[allowed].argmax()])
        return token

    def _allowed(self) -> NDArray[np.intp]:
        bitmasks.fill_next_token_bitmask(self._matcher, self._mask, 0)
        self._check()
        bits = np.unpackbits(self._mask[0].view(np.uint8), count=self._vocabulary, bitorder="little")
        allowed = np.flatnonzero(bits)
        if not allowed.size:
            raise EngineError("The grammar allows no token here; the schema contradicts itself.")
        return allowed

    def _check(self) -> None:
        if self._matcher.is_error():
            raise EngineError(f"The grammar gave up: {self._matcher.get_error().splitlines()[0]}")
