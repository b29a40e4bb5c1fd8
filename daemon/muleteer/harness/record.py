"""What one turn has spent, called, found and said: the state that its parts share.

Keeps and tells; decides nothing. `turn.py` plans over it, `attempt.py` adds to it, `landing.py` ends it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from muleteer.harness.dispatcher import Bridge
from muleteer.harness.events import (
    BrainChosen,
    BrainUse,
    CallUse,
    Confirm,
    Emit,
    TextDelta,
    TurnFailed,
    TurnFinished,
)
from muleteer.harness.ledger import Ledger
from muleteer.harness.phrases import Phrases
from muleteer.harness.signals import Plan
from muleteer.settings.sections import Budgets
from muleteer.tool import Status
from muleteer.toolbox import Tool


class Record:
    """`bridge` and `plan` are those of the attempt that runs, `words` the user's language. `emit` takes each
    event as it happens."""

    def __init__(self, id: str, budgets: Budgets, emit: Emit, words: Phrases) -> None:
        self.id, self.emit, self.words = id, emit, words
        self.ledger = Ledger(budgets.turn, emit, budgets.answer_output)
        self.calls: list[CallUse] = []
        self.bridge = Bridge()
        self.plan = Plan((), 0.0)
        self.said = ""
        self.dropped = 0
        self.brains: list[BrainUse] = []
        self._began, self._first_ms = time.monotonic(), 0.0

    def answers(self, brain: str, reason: str = "") -> None:
        """From here on this brain does."""
        self.brains.append(BrainUse(brain, reason))
        self.emit(BrainChosen(brain, reason))

    def say(self, piece: str) -> None:
        """Another piece of the answer."""
        if piece:
            self._first_ms = self._first_ms or self._ms()
            self.said += piece
            self.emit(TextDelta(piece))

    def found(self) -> list[str]:
        """What the tools of this attempt have found out, as sentences."""
        return [each.text for each in self.bridge.results if each.status is Status.OK]

    def acted(self, tools: Mapping[str, Tool]) -> bool:
        """Whether one of these tools that can change anything has succeeded in this turn."""
        done = [tools.get(call.tool) for call in self.calls if call.status == "ok"]
        return any(tool is not None and tool.effect != "read" for tool in done)

    def finished(self) -> TurnFinished:
        calls, levels = tuple(self.calls), tuple(self.ledger.levels)
        spent = (calls, levels, self._ms(), self._first_ms, self.dropped, tuple(self.brains))
        return TurnFinished(self.id, self.said, self.plan.handles, *spent)

    def asking(self, tool: Tool, arguments: dict[str, object], question: str, seconds: float) -> Confirm:
        calls, levels = tuple(self.calls), tuple(self.ledger.levels)
        call = (tool.name, tool.effect, arguments, question, seconds)
        return Confirm(self.id, *call, self.plan.handles, calls, levels, self._ms())

    def failed(self, code: str, message: str, status: int) -> TurnFailed:
        return TurnFailed(self.id, code, message, status, tuple(self.ledger.levels))

    def _ms(self) -> float:
        return round((time.monotonic() - self._began) * 1000, 1)
