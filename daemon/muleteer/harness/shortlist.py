"""Which handles can matter for a message, by words alone: deterministic, no model.

Ranks menu lines by BM25 over the words, and four-letter pieces of words, of their names, descriptions,
examples and parameters. A menu that can be shown whole is scored whole; of a longer one the best are shown
and scored.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from muleteer.skills import MenuLine

# What a cut leaves. On BFCL the right function is among the best four of its case in 100 % (`multiple`) and
# 99.5 % (`live_multiple`), among the best eight always; of all functions of all cases together (443 and
# 457) it is among the best 16 in 98.5 and 94.5 %.
KEEP = 16

# What a cut always leaves: the second best is right often enough.
FEWEST = 2

# BM25's usual constants: term saturation and length normalisation (Robertson and Zaragoza 2009).
_K1, _B = 1.2, 0.75

# Letters of a piece: inflection and compounds leave pieces whole, which three letters are too common for.
_PIECE = 4


def words(text: str) -> list[str]:
    """Lower-case words without accents, plurals cut to their stem so that "timers" meets "timer"."""
    flat = "".join(
        each for each in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(each)
    )
    return [w[:-1] if len(w) > 3 and w.endswith("s") else w for w in re.findall(r"[^\W_]+", flat)]


def terms(text: str) -> list[str]:
    """Words, and their pieces with the word's borders marked."""
    found = words(text)
    bounded = [f" {word} " for word in found]
    pieces = (word[i : i + _PIECE] for word in bounded for i in range(len(word) - _PIECE + 1))
    return [*found, *pieces]


class Shortlist:
    """An index over the menu; `keep` is how many handles a cut leaves."""

    def __init__(self, menu: Sequence[MenuLine], keep: int = KEEP) -> None:
        self._keep = keep
        self._handles = [line.handle for line in menu]
        self._texts = [
            Counter(terms(" ".join([line.handle, line.description, *line.examples, line.words])))
            for line in menu
        ]
        self._length = sum(text.total() for text in self._texts) / max(1, len(menu))
        self._holding = Counter(term for text in self._texts for term in text)

    def pick(self, message: str, near: float = 0.0) -> tuple[str, ...]:
        """The handles worth scoring, best first; ties keep the menu's order. Beyond the first two only those
        that have at least the share `near` of the best one's score."""
        wanted = set(terms(message))
        scores = [self._score(wanted, text) for text in self._texts]
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        least = near * max(scores, default=0.0)
        kept = [i for n, i in enumerate(ranked[: self._keep]) if n < FEWEST or scores[i] >= least]
        return tuple(self._handles[i] for i in kept)

    def _score(self, wanted: set[str], text: Counter[str]) -> float:
        size = _K1 * (1 - _B + _B * text.total() / self._length) if self._length else 0.0
        return sum(
            self._rarity(term) * text[term] * (_K1 + 1) / (text[term] + size) for term in wanted & text.keys()
        )

    def _rarity(self, term: str) -> float:
        holding, all_lines = self._holding[term], len(self._texts)
        return math.log(1 + (all_lines - holding + 0.5) / (holding + 0.5))
