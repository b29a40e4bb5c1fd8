"""Which handles can matter for a message, by words alone: deterministic, no model.

Ranks menu lines by BM25 over their names, descriptions and examples. A short menu is scored whole; only a
longer one is cut, since a handle that is not scored cannot be chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from muleteer.skills import MenuLine

# Up to this many handles scoring them all costs less than a wrong cut: a small embedding model's best six
# of thirteen held the right handle for only 92.5 % of a routing battery.
SCORE_ALL = 16

# BM25's usual constants: term saturation and length normalisation (Robertson and Zaragoza 2009).
_K1, _B = 1.2, 0.75


def words(text: str) -> list[str]:
    """Lower-case words, plurals cut to their stem so that "timers" meets "timer"."""
    return [w[:-1] if len(w) > 3 and w.endswith("s") else w for w in re.findall(r"\w+", text.casefold())]


class Shortlist:
    """An index over the menu; `keep` is how many handles a cut leaves."""

    def __init__(self, menu: Sequence[MenuLine], keep: int = SCORE_ALL) -> None:
        self._keep = keep
        self._handles = [line.handle for line in menu]
        self._texts = [
            Counter(words(" ".join([line.handle.replace("-", " "), line.description, *line.examples])))
            for line in menu
        ]
        self._length = sum(text.total() for text in self._texts) / max(1, len(menu))
        self._holding = Counter(word for text in self._texts for word in text)

    def pick(self, message: str) -> tuple[str, ...]:
        """The handles worth scoring, best first; ties keep the menu's order."""
        wanted = set(words(message))
        scores = [self._score(wanted, text) for text in self._texts]
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        return tuple(self._handles[i] for i in ranked[: self._keep])

    def _score(self, wanted: set[str], text: Counter[str]) -> float:
        size = _K1 * (1 - _B + _B * text.total() / self._length) if self._length else 0.0
        return sum(
            self._rarity(word) * text[word] * (_K1 + 1) / (text[word] + size) for word in wanted & text.keys()
        )

    def _rarity(self, word: str) -> float:
        holding, all_lines = self._holding[word], len(self._texts)
        return math.log(1 + (all_lines - holding + 0.5) / (holding + 0.5))
