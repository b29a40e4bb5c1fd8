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
PLAIN = "0123456789TZaAbcdefghijklmnopqrstuvwxyz -_:./@#PDYMW+"  # what patterns and formats mostly ask for
_QUOTES = re.compile(rb'\\.|"', re.DOTALL)


class Endings:
    """Ways to the end, for one vocabulary."""

    def __init__(self, tokenizer: LLTokenizer, vocabulary: int) -> None:
        self._tokenizer = tokenizer
        self.closing: list[int] = [tokenizer.tokenize_str(text)[-1] for text in CLOSING]
        self._plain = [*dict.fromkeys(tokenizer.tokenize_str(character)[-1] for character in PLAIN)]
        self._mask = bitmasks.allocate_token_bitmask(1, vocabulary)

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

    def _step(self, fork: LLMatcher, text: bytes) -> list[int]:
        """A token that leads to the end, or one that is allowed."""
        within = _QUOTES.findall(text).count(b'"') % 2
        closing = self.closing[:1] if within else self.closing[1:]
        for token in (*closing, *self._plain):
            if fork.validate_tokens([token]) == 1:
                return [token]
        bitmasks.fill_next_token_bitmask(fork, self._mask, 0)
        allowed = np.flatnonzero(np.unpackbits(self._mask[0].view(np.uint8), bitorder="little"))
        return [int(allowed[0])] if allowed.size else []
