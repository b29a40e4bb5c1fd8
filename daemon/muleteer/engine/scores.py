"""The distribution over options, from a trie and the model's scores where it parts.

At each point the probability is shared among the branches that options take, so what is left of an option
that stands alone needs no decoding. Branches of one level are decoded in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from muleteer.engine.budget import Meter
from muleteer.engine.cache import Cache, Check
from muleteer.engine.trie import Node

HOPELESS = 1e-3  # a branch below this is not decoded: its options share it evenly, which changes no choice
TOGETHER = 4  # sequences lent to one level of the trie; two levels at once leave room in the smallest setting


class Scorer:
    """Scores one trie below the sequence that holds the prompt."""

    def __init__(self, cache: Cache, check: Check, meter: Meter) -> None:
        self._cache, self._check, self._meter = cache, check, meter
        self._found: dict[int, float] = {}

    def distribution(self, root: Node, sequence: int, logits: NDArray[np.float32]) -> tuple[float, ...]:
        """Probabilities in the order of the options, summing to 1. `logits` are those of the root's branches,
        in their order."""
        self._share(root, sequence, logits, 1.0)
        return tuple(self._found[index] for index in range(len(self._found)))

    def _share(self, node: Node, sequence: int, logits: NDArray[np.float32], mass: float) -> None:
        weights = np.exp(logits.astype(np.float64) - float(logits.max()))
        parts = mass * weights / weights.sum()
        deeper: list[tuple[Node, float]] = []
        for below, part in zip(node.branches.values(), parts.tolist(), strict=True):
            if isinstance(below, int):
                self._found[below] = part
            elif part < HOPELESS:
                members = below.members()
                self._found |= dict.fromkeys(members, part / len(members))
            else:
                deeper.append((below, part))
        for begin in range(0, len(deeper), TOGETHER):
            self._descend(deeper[begin : begin + TOGETHER], sequence)

    def _descend(self, branches: Sequence[tuple[Node, float]], sequence: int) -> None:
        forks: list[int] = []
        try:
            for _ in branches:
                forks.append(self._cache.fork_all(sequence))
            nodes = [node for node, _ in branches]
            parts = [(fork, node.chain, list(node.branches)) for fork, node in zip(forks, nodes, strict=True)]
            rows = self._cache.score(parts, self._check, self._meter)
            for fork, row, (node, mass) in zip(forks, rows, branches, strict=True):
                self._share(node, fork, row, mass)
        finally:
            for fork in forks:
                self._cache.drop(fork)
