"""JSON schemas as grammars over tokens, through llguidance.

A schema is vetted first (`vetting.py`). Knows nothing of llama.cpp or prompts: logits come in, tokens go out.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Sequence

import llguidance.numpy as bitmasks
import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from muleteer.engine.protocol import JsonSchema
from muleteer.engine.references import Schema
from muleteer.engine.vetting import grammar, vet
from muleteer.errors import EngineError, SkillError

CLOSING = ('"', "}", "]", ",")  # tried in this order: inside a string only the first one ends it
COMPILED = 64  # grammars kept: more than a household has tools; a typical one takes some 100 kB


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
        compiled = LLMatcher(self._tokenizer, grammar(schema, lead), log_level=0)
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
