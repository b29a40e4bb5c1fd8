"""Signals: exceptions raised on purpose to end a level the instant it has to end.

They are control flow, not faults; none leaves `turn.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from muleteer.toolbox import Tool


@dataclass(frozen=True, slots=True)
class Plan:
    """What L1 decided: handles without "@", best first, and the probability of the first."""

    handles: tuple[str, ...]
    confidence: float


class Signal(Exception):  # noqa: N818 (a signal is not an error)
    """Base of the harness's structural stops."""


class PlanSignal(Signal):
    """A plan exists: L1 is over."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(", ".join(plan.handles))
        self.plan = plan


class ToolLoopHalt(Signal):
    """A limit on tool calls tripped: L2 is over. `str(signal)` says which."""


class ConfirmSignal(Signal):
    """A call needs a yes before it may run: the turn is over until somebody gives one."""

    def __init__(self, tool: Tool, arguments: dict[str, object]) -> None:
        super().__init__(tool.name)
        self.tool, self.arguments = tool, arguments


class BudgetExceeded(Signal):
    """The turn's tokens or seconds are spent: nothing more may ask the model. `str(signal)` is a sentence."""
