"""Signals: exceptions raised on purpose to end a level the instant it has to end.

They are control flow, not faults; none leaves `turn.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muleteer.engine.protocol import Conversation, Text
from muleteer.toolbox import Tool

if TYPE_CHECKING:
    from muleteer.harness.confirmation import Pause
    from muleteer.harness.free.listening import Heard


@dataclass(frozen=True, slots=True)
class Plan:
    """What L1 decided: handles without "@", best first, and the probability of the first. A free brain gives
    a `rationale`, its own sentence, and no probability."""

    handles: tuple[str, ...]
    confidence: float
    rationale: str = ""


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
    """A call needs a yes before it may run: the turn is over until somebody gives one. Each level that it
    passes adds what is left of it: L2 its prompt and the call that it wrote, or what a free brain said
    (`heard`), code the tools that were to follow, and the attempt all of it, as a `pause`."""

    def __init__(self, tool: Tool, arguments: dict[str, object]) -> None:
        super().__init__(tool.name)
        self.tool, self.arguments = tool, arguments
        self.written: tuple[Conversation, Text] | None = None
        self.tools: tuple[Tool, ...] = ()
        self.heard: Heard | None = None
        self.pause: Pause | None = None


class BudgetExceeded(Signal):
    """So many tokens of a turn are spent: no level may ask for more."""

    def __init__(self, tokens: int) -> None:
        super().__init__(f"the {tokens} tokens of this turn are spent")
        self.tokens = tokens
