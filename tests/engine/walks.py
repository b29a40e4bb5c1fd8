"""Texts that a grammar allows, taken at random: they find what no model happens to write."""

from __future__ import annotations

import numpy as np
from llguidance import LLTokenizer

from muleteer.engine.grammar import Matcher

SOFT = 25  # tokens, after which a way to the end is taken as soon as there is one
HARD = 400  # tokens; the schemas of these tests all end long before


class Wild:
    """Logits that like each token at random, a new one each time; common tokens twice as often."""

    def __init__(self, vocabulary: int, seed: int) -> None:
        self._random, self._vocabulary = np.random.default_rng(seed), vocabulary

    def logits(self) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        logits = self._random.random(self._vocabulary, dtype=np.float32)
        if self._random.random() < 0.5:
            logits[: self._vocabulary // 20] += 1
        return logits


def walk(matcher: Matcher, tokenizer: LLTokenizer, wild: Wild) -> str:
    """A random text under a grammar, to its end."""
    written = matcher.forced()
    while not matcher.done and len(written) < HARD:
        token = matcher.pick(wild.logits())
        if token == tokenizer.eos_token:
            break
        new = [token, *matcher.forced()]
        if (ending := matcher.ending(written, new, SOFT)) is not None:
            written += ending
            break
        written += new
    return str(tokenizer.decode_str(written))
