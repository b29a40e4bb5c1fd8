"""The ledger of one turn: what each level cost, and when the turn's token budget is spent.

Pure bookkeeping. A turn pays for tokens decoded and generated; reused tokens are free.
"""

from __future__ import annotations

from muleteer.engine.protocol import Use
from muleteer.harness.events import Emit, LevelFinished, LevelUse
from muleteer.harness.signals import BudgetExceeded


class Ledger:
    """`allow` before a request, `book` after it. `budget` is in tokens."""

    def __init__(self, budget: int, emit: Emit) -> None:
        self._budget = budget
        self._emit = emit
        self.levels: list[LevelUse] = []

    @property
    def spent(self) -> int:
        return sum(level.decoded + level.generated for level in self.levels)

    def allow(self, wanted: int) -> int:
        """How many of `wanted` tokens may still be generated; raises `BudgetExceeded` if none."""
        left = self._budget - self.spent
        if left <= 0:
            raise BudgetExceeded(f"This turn's budget of {self._budget} tokens is spent.")
        return min(wanted, left)

    def narrow(self, tokens: int) -> None:
        """From now on at most so many more tokens."""
        self._budget = min(self._budget, self.spent + tokens)

    def book(self, level: str, use: Use) -> None:
        """Add one request's use and tell whoever listens."""
        entry = LevelUse.of(level, use)
        self.levels.append(entry)
        self._emit(LevelFinished(entry))
