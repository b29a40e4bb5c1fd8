"""JSON schemas as grammars over tokens, through llguidance.

A schema is vetted first (`vetting.py`). Knows nothing of llama.cpp or prompts: logits come in, tokens go out.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection, Sequence

import llguidance.numpy as bitmasks
import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from muleteer.engine.ending import Endings
from muleteer.engine.protocol import JsonSchema
from muleteer.engine.references import Schema
from muleteer.engine.vetting import grammar, text_of, vet
from muleteer.errors import EngineError, SkillError

COMPILED = 64  # grammars kept: more than a household has tools; a typical one takes some 100 kB
ENDING = 0.5  # of a text's limit; later each token is taken only if a short way to the end still fits
WORD = 32  # tokens in one word of llguidance's mask


class Grammars:
    """Compiled schemas for one vocabulary."""

    def __init__(self, tokenizer: LLTokenizer, vocabulary: int) -> None:
        self._tokenizer, self._vocabulary = tokenizer, vocabulary
        self._endings = Endings(tokenizer, vocabulary)
        self._compiled: OrderedDict[tuple[str, str], LLMatcher] = OrderedDict()

    def matcher(self, schema: JsonSchema, lead: str = "") -> Matcher:
        """A fresh matcher for text that is `lead` (white space) and then JSON. Raises `SkillError`."""
        key = text_of(schema), lead
        compiled = self._compiled.pop(key, None) or self._compile(vet(schema), lead)
        self._compiled[key] = compiled
        while len(self._compiled) > COMPILED:
            self._compiled.popitem(last=False)
        return Matcher(compiled.deep_copy(), self._vocabulary, self._endings)

    def _compile(self, schema: Schema, lead: str) -> LLMatcher:
        compiled = LLMatcher(self._tokenizer, grammar(schema, lead), log_level=0)
        if compiled.is_error():
            raise SkillError(f"The schema cannot be enforced: {compiled.get_error().splitlines()[0]}")
        if fault := self._endings.fault(compiled):
            raise SkillError(f"The schema cannot be enforced, it is too complex: {fault}")
        return compiled


class Matcher:
    """One text being written under a grammar."""

    def __init__(self, matcher: LLMatcher, vocabulary: int, endings: Endings) -> None:
        self._matcher, self._endings = matcher, endings
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

    def ending(self, written: Sequence[int], new: list[int], limit: int) -> list[int] | None:
        """What to end with, in place of the `new` tokens just taken after those `written`, if with them the
        text would not fit its limit; None to go on. Asked in the last part of a text (`ENDING`)."""
        if self.done or len(written) + len(new) < limit * ENDING:
            return None
        room = limit - len(written)
        if self._endings.find(self._matcher, [*written, *new], room - len(new)) is not None:
            return None
        self._matcher.rollback(len(new))
        instead = self._endings.find(self._matcher, written, room)
        if instead is None:
            self._matcher.consume_tokens(new)
        self._check()
        return instead

    def pick(self, logits: NDArray[np.float32], avoid: Collection[int] = ()) -> int:
        """Take the most likely allowed token. To leave a loop, given its tokens to `avoid`: what ends a
        string or a number if that is allowed, else another token if one is."""
        ends = (
            token for token in self._endings.closing if avoid and self._matcher.validate_tokens([token]) == 1
        )
        token = next(ends, None)
        if token is None:
            token = self._likeliest(logits, avoid)
        if token is None or not math.isfinite(logits[token]):
            raise EngineError("The model gave no finite score for a token; its file may be damaged.")
        self._matcher.consume_token(token)
        self._check()
        return token

    def _likeliest(self, logits: NDArray[np.float32], avoid: Collection[int]) -> int | None:
        likeliest = int(logits.argmax())
        if likeliest not in avoid and self._matcher.validate_tokens([likeliest]) == 1:
            return likeliest
        if not avoid and (closing := self._endings.without_surplus(likeliest, self._matcher)) is not None:
            return closing
        bitmasks.fill_next_token_bitmask(self._matcher, self._mask, 0)
        self._check()
        if avoid:
            rest = logits.copy()
            rest[list(avoid)] = -np.inf
            if (token := self._best_allowed(rest)) is not None:
                return token
        return self._best_allowed(logits)

    def _best_allowed(self, logits: NDArray[np.float32]) -> int | None:
        """The likeliest token of the mask, None if none has a finite score; only words of 32 tokens with an
        allowed one are looked at."""
        words = np.flatnonzero(self._mask[0])
        if not words.size:
            raise EngineError("The grammar allows no token here; the schema contradicts itself.")
        allowed = np.unpackbits(self._mask[0, words].view(np.uint8), bitorder="little").view(np.bool_)
        if missing := -logits.size % WORD:
            logits = np.pad(logits, (0, missing), constant_values=-np.inf)
        scores = np.where(allowed, logits.reshape(-1, WORD)[words].ravel(), -np.inf)
        best = int(scores.argmax())
        return int(words[best // WORD]) * WORD + best % WORD if math.isfinite(scores[best]) else None

    def _check(self) -> None:
        if self._matcher.is_error():
            raise EngineError(f"The grammar gave up: {self._matcher.get_error().splitlines()[0]}")
