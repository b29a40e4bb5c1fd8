"""Short ways to end a JSON text under its grammar, without asking the model.

A text that nears its token limit is ended on one of them instead of being cut in the middle. Knows JSON's
brackets and the tokens of plain characters; nothing of limits or models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import llguidance.numpy as bitmasks
import numpy as np
from llguidance import LLMatcher, LLTokenizer

QUOTE = '"'
CLOSING = (QUOTE, "}", "]", ",")
PLAIN = "0aA:1-Z.@/ _#23456789bcdefghijklmnopqrstuvwxyzBCDPTYMW+"  # what patterns and formats mostly ask for
SURPLUS = b"}] \n\t"  # what a model writes behind JSON to close what it takes to be around it
TRIED = 200  # steps to try a new grammar with; most schemas have a shorter text
PAIRED = 4  # of them, tried as the second of a pair: `@0` ends an address, `::` another one, `:a` a third
_QUOTES = re.compile(rb'\\.|"', re.DOTALL)


class Endings:
    """Ways to the end, for one vocabulary."""

    def __init__(self, tokenizer: LLTokenizer, vocabulary: int) -> None:
        self._tokenizer = tokenizer
        self.closing: list[int] = [tokenizer.tokenize_str(text)[-1] for text in CLOSING]
        self._shorter: dict[int, list[int]] = {}
        self._plain = [*dict.fromkeys(tokenizer.tokenize_str(character)[-1] for character in PLAIN)]
        self._mask = bitmasks.allocate_token_bitmask(1, vocabulary)

    def without_surplus(self, token: int, matcher: LLMatcher) -> int | None:
        """The token that the beginning of this one is, where the rest only closes what is around the JSON:
        models write `"}}` at the end of a call's arguments as one token, and would go on with a worse one.
        None where no such beginning is allowed."""
        if token not in self._shorter:
            text = self._tokenizer.decode_bytes([token])
            ends = (end for end in range(len(text) - 1, 0, -1) if not text[end:].strip(SURPLUS))
            cut = (self._tokenizer.tokenize_bytes(text[:end]) for end in ends)
            self._shorter[token] = [tokens[0] for tokens in cut if len(tokens) == 1]
        return next((each for each in self._shorter[token] if matcher.validate_tokens([each]) == 1), None)

    def find(self, matcher: LLMatcher, written: Iterable[int], most: int) -> list[int] | None:
        """At most `most` tokens that end the text `written`; None if no such way was found."""
        fork, tokens = matcher.deep_copy(), list[int]()
        text = self._tokenizer.decode_bytes([*written])
        while len(tokens) <= most:
            if fork.is_accepting():
                return tokens
            more = fork.compute_ff_tokens() or self._step(fork, text)
            if not more or not fork.consume_tokens(more):
                return None
            tokens += more
            text += self._tokenizer.decode_bytes(more)
        return None

    def fault(self, matcher: LLMatcher) -> str:
        """Why the grammar's limits give out within the first `TRIED` steps of a short text; empty if not."""
        fork, text = matcher.deep_copy(), b""
        for _ in range(TRIED):
            bitmasks.fill_next_token_bitmask(fork, self._mask, 0)
            if fork.is_error() or fork.is_accepting():
                break
            more = fork.compute_ff_tokens() or self._step(fork, text)
            if not more or not fork.consume_tokens(more):
                break
            text += self._tokenizer.decode_bytes(more)
        return str(fork.get_error().splitlines()[0]) if fork.is_error() else ""

    def _step(self, fork: LLMatcher, text: bytes) -> list[int]:
        """A token that leads to the end, or one that is allowed."""
        within = _QUOTES.findall(text).count(b'"') % 2
        for token in self.closing[:1] if within else self.closing[1:]:
            if fork.validate_tokens([token]) == 1:
                return [token]
        if within and (way := self._way_out(fork)):
            return way
        for token in self._plain:
            if fork.validate_tokens([token]) == 1:
                return [token]
        bitmasks.fill_next_token_bitmask(fork, self._mask, 0)
        allowed = np.flatnonzero(np.unpackbits(self._mask[0].view(np.uint8), bitorder="little"))
        return [int(allowed[0])] if allowed.size else []

    def _way_out(self, fork: LLMatcher) -> list[int]:
        """One or two plain characters after which the string may end; empty if there are none."""
        quote = self.closing[0]
        for token in self._plain:
            if fork.validate_tokens([token, quote]) == 2:
                return [token]
        for first in self._plain:
            if fork.validate_tokens([first]) == 1:
                for second in self._plain[:PAIRED]:
                    if fork.validate_tokens([first, second, quote]) == 3:
                        return [first, second]
        return []
