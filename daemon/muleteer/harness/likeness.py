"""How like a message is to the examples of each handle: a second opinion beside the model's, at no token.

A linear head over the words, pairs of words and pieces of words of every example, fitted in closed form
(ridge regression in its dual form, so that the work is a system of as many equations as there are
examples). It knows more examples than a prompt can show; what it knows of language is nothing but them.
Deterministic.
"""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

# OpenBLAS reads this once, as numpy is loaded. Threads of its own gain nothing on some hundred equations, and
# on a busy machine one was not woken: then the caller spins for ever.
THREADS = "OPENBLAS_NUM_THREADS"
_told = os.environ.get(THREADS)
os.environ[THREADS] = "1"
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

if _told is None:
    del os.environ[THREADS]  # other people's programs decide for themselves
else:
    os.environ[THREADS] = _told

# How far the fit may miss an example for simpler weights; from 0.03 to 0.3 all serve the development half
# of the routing battery alike.
RIDGE = 0.1

# Letters of the pieces of words.
PIECES = (3, 4)

# Examples in all, at most. Fitting takes their number cubed in time, and some 50 kB each while it lasts.
MOST = 800


class Likeness:
    """Fitted on `examples` by label; the first ones of each where there are more than `MOST` in all."""

    def __init__(self, examples: Mapping[str, Sequence[str]]) -> None:
        self.labels = tuple(examples)
        each = max(map(len, examples.values()), default=0)
        while each > 1 and sum(min(each, len(texts)) for texts in examples.values()) > MOST:
            each -= 1
        self._examples = {label: tuple(texts[:each]) for label, texts in examples.items()}
        said = [(text, number) for number, texts in enumerate(self._examples.values()) for text in texts]
        bags = [Counter(_terms(text)) for text, _ in said]
        holding = Counter(term for bag in bags for term in bag)
        self._numbers = {term: number for number, term in enumerate(holding)}
        self._rarity = {term: math.log((len(said) + 1) / (n + 0.5)) for term, n in holding.items()}
        self._weights = self._fit(bags, [number for _, number in said])

    def _fit(self, bags: Sequence[Counter[str]], numbers: Sequence[int]) -> NDArray[np.float32]:
        """One column of weights for each label; without examples there is nothing to weigh."""
        if not bags:
            return np.zeros((0, len(self.labels)), np.float32)
        known = np.stack([self._vector(bag) for bag in bags])
        goal = -np.ones((len(bags), len(self.labels)), np.float32)
        goal[range(len(bags)), numbers] = 1.0
        gram = known @ known.T + RIDGE * np.eye(len(bags), dtype=np.float32)
        return np.asarray(known.T @ np.linalg.solve(gram, goal))

    def scores(self, message: str) -> dict[str, float]:
        """About 1 for a label whose examples say this, about -1 for one whose examples do not."""
        if not len(self._weights):
            return dict.fromkeys(self.labels, -1.0)
        found = self._vector(Counter(_terms(message))) @ self._weights
        return dict(zip(self.labels, found.tolist(), strict=True))

    def nearest(self, message: str, labels: Sequence[str], each: int) -> list[tuple[str, str]]:
        """The examples of these labels that share most with a message, so many of each, the nearest last."""
        asked = self._vector(Counter(_terms(message)))
        found: list[tuple[float, str, str]] = []
        for label in labels:
            near = [
                (float(self._vector(Counter(_terms(said))) @ asked), said) for said in self._examples[label]
            ]
            found += [(share, said, label) for share, said in sorted(near, reverse=True)[:each]]
        return [(said, label) for _, said, label in sorted(found)]

    def _vector(self, bag: Counter[str]) -> NDArray[np.float32]:
        """Of length 1, or nothing but zeros where no term is known."""
        vector = np.zeros(len(self._numbers), np.float32)
        for term, count in bag.items():
            if (number := self._numbers.get(term)) is not None:
                vector[number] = (1 + math.log(count)) * self._rarity[term]
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector


def _terms(text: str) -> Iterator[str]:
    """Words, pairs of neighbours and pieces; all numbers are one."""
    flat = unicodedata.normalize("NFKD", re.sub(r"\d+", "0", text.casefold()))
    plain = "".join(each for each in flat if not unicodedata.combining(each))
    found = re.findall(r"\w+|[?%+*/=€$:]", plain)
    yield from (f"={word}" for word in found)
    yield from (f"{first} {second}" for first, second in zip(["^", *found], found, strict=False))
    for word in found:
        bounded = f"^{word}$"
        for size in PIECES:
            yield from (bounded[i : i + size] for i in range(len(bounded) - size + 1))
