"""How probability is shared over a trie, with a cache that only writes down what it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from muleteer.engine import trie
from muleteer.engine.budget import Ledger
from muleteer.engine.scores import HOPELESS, Scorer

END = 0


class Written:
    """Gives every branch the logits in `rows`, by the tokens that lead to it."""

    def __init__(self, rows: dict[tuple[int, ...], list[float]]) -> None:
        self.rows, self.scored = rows, list[tuple[int, ...]]()
        self.paths: dict[int, tuple[int, ...]] = {0: ()}

    def fork_all(self, source: int) -> int:
        self.paths[len(self.paths)] = self.paths[source]
        return len(self.paths) - 1

    def score(self, parts: Sequence[Any], check: Any, meter: Any) -> list[Any]:
        return [self._score(*part) for part in parts]

    def _score(self, sequence: int, tokens: Sequence[int], wanted: Sequence[int]) -> Any:
        self.paths[sequence] = (*self.paths[sequence], *tokens)
        self.scored.append(self.paths[sequence])
        return np.array(self.rows[self.paths[sequence]], dtype=np.float32)

    def drop(self, sequence: int) -> None:
        self.paths[sequence] = ()


def distribution(
    options: list[tuple[int, ...]], first: list[float], rows: dict[tuple[int, ...], list[float]]
) -> tuple[tuple[float, ...], Written]:
    root = trie.build([(*option, END) for option in options])
    assert not isinstance(root, int)
    cache = Written(rows)
    with Ledger().request() as meter:
        scorer = Scorer(cache, lambda: None, meter)  # type: ignore[arg-type]  # only these three calls
        return scorer.distribution(root, 0, np.array(first, dtype=np.float32)), cache


def test_a_branch_is_decoded_once_for_all_options_in_it_and_a_lone_option_not_at_all() -> None:
    shares, cache = distribution([(1, 2, 3), (1, 2, 4), (5, 6, 7)], [0.0, 0.0], {(1, 2): [1.0, 1.0]})
    assert shares == pytest.approx((0.25, 0.25, 0.5))
    assert cache.scored == [(1, 2)]


def test_a_hopeless_branch_is_not_decoded_and_its_options_share_what_it_has() -> None:
    shares, cache = distribution([(1, 3), (1, 4), (2, 3), (2, 4)], [20.0, 0.0], {(1,): [0.0, 0.0]})
    assert cache.scored == [(1,)]
    assert shares[2] == shares[3] < HOPELESS
    assert sum(shares) == pytest.approx(1)
