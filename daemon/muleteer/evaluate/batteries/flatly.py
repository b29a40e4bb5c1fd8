"""The other side of a whole turn: the flat loop over the same tools, answering in the model's own words.

Knows `harness/flat.py`; nothing of cases.
"""

from __future__ import annotations

from collections.abc import Sequence

from muleteer.engine.client import Engine
from muleteer.errors import TooLongError
from muleteer.harness import flat
from muleteer.harness.dispatcher import Dispatcher
from muleteer.harness.events import LevelUse
from muleteer.harness.free.listening import Listener
from muleteer.harness.ledger import Ledger
from muleteer.harness.signals import BudgetExceeded, ToolLoopHalt
from muleteer.harness.talking import Talking
from muleteer.harness.tool_agent import ToolAgent
from muleteer.settings.sections import Budgets
from muleteer.toolbox import Toolbox

READY = 60.0  # seconds that an engine between two requests may take to be there again


class FlatTurns:
    """Turns of the flat loop on one engine, every tool that is not hidden being shown. Its prompt has
    room for all of them, whatever the budget of a home says: a side that is refused cannot be compared."""

    def __init__(self, engine: Engine, toolbox: Toolbox, prompt: int) -> None:
        self._engine, self._toolbox = engine, toolbox
        self._tools = [tool for tool in toolbox.tools.values() if not tool.hidden]
        self._budgets = Budgets().model_copy(update={"flat_prompt": prompt})

    async def warm(self) -> None:
        await self._engine.lane().warm(flat.opening(self._tools, ""))

    async def turn(self, message: str) -> tuple[str, Sequence[LevelUse]]:
        """What it says in the end, and what its levels used. A loop that a limit stops says nothing."""
        marks = (await self._engine.ready(READY)).call_marks
        lane = self._engine.lane()
        ledger = Ledger(self._budgets.turn, lambda event: None)
        agent = ToolAgent(lane, ledger, self._budgets)
        dispatcher = Dispatcher(self._tools, agent, self._toolbox.call, [], lambda event: None)
        loop = flat.Flat(Listener(Talking(lane, marks), ledger), ledger, self._budgets)
        try:
            said = await loop.follow(dispatcher, self._tools, message)
        except (ToolLoopHalt, TooLongError, BudgetExceeded) as stop:
            said = f"(stopped: {stop})"
        return said, ledger.levels
