"""The ledger of one turn: what each level cost, and when the turn's token budget is spent.

Pure bookkeeping. A turn pays for tokens decoded and generated; reused tokens are free. Of its budget a part
is kept for the answer: at 75 % of the rest a loop is told to come to an end (`note`), at 100 % no tool may be
asked for any more, and what was found is still said.
"""

from __future__ import annotations

from muleteer.engine.protocol import Use
from muleteer.harness.events import Emit, LevelFinished, LevelUse
from muleteer.harness.prompts import render
from muleteer.harness.signals import BudgetExceeded

# The share of the tokens for tools after which a loop is told: one more call is possible, two hardly.
WIND_DOWN = 0.75

# What is kept for the answer is at most this share of the budget: a small one would leave no tool at all.
MOST_KEPT = 0.25


class Ledger:
    """`allow` before a request, `book` after it. `budget`, and `answer`, which one may need, in tokens."""

    def __init__(self, budget: int, emit: Emit, answer: int = 0) -> None:
        self._budget, self._kept = budget, min(answer, int(budget * MOST_KEPT))
        self._emit = emit
        self._told = False
        self._begun = 0
        self.levels: list[LevelUse] = []

    @property
    def spent(self) -> int:
        return sum(level.decoded + level.generated for level in self.levels[self._begun :])

    @property
    def withdrawn(self) -> bool:
        """Whether no tool may be asked for any more."""
        return self.spent >= self._budget - self._kept

    def allow(self, wanted: int) -> int:
        """How many of `wanted` tokens a plan or a call may still have; raises `BudgetExceeded` if none."""
        return self._allow(wanted, self._budget - self._kept)

    def allow_answer(self, wanted: int) -> int:
        """`allow` for the answer, which has what is kept for it."""
        return self._allow(wanted, self._budget)

    def note(self) -> str:
        """What a loop's model is told when it must come to an end, once; empty before and after."""
        if self._told or self.spent < WIND_DOWN * (self._budget - self._kept):
            return ""
        self._told = True
        return render("wind_down")

    def begin(self, budget: int, answer: int = 0) -> None:
        """From here on another brain is asked, which has a budget of its own."""
        self._budget, self._kept = budget, min(answer, int(budget * MOST_KEPT))
        self._begun, self._told = len(self.levels), False

    def narrow(self, tokens: int) -> None:
        """From now on at most so many more tokens."""
        self._budget = min(self._budget, self.spent + tokens)
        self._kept = min(self._kept, int(tokens * MOST_KEPT))

    def book(self, level: str, use: Use) -> None:
        """Add one request's use and tell whoever listens."""
        entry = LevelUse.of(level, use)
        self.levels.append(entry)
        self._emit(LevelFinished(entry))

    def _allow(self, wanted: int, limit: int) -> int:
        left = limit - self.spent
        if left <= 0:
            raise BudgetExceeded(self._budget)
        return min(wanted, left)
