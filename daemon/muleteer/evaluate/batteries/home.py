"""A simulated home on one engine: its harness, and the flat loop over the same tools, taking turns.

Knows both paths of a whole turn; nothing of cases and of what is right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from muleteer.engine.client import Engine
from muleteer.evaluate.batteries.battery import HARNESS
from muleteer.evaluate.batteries.flatly import FlatTurns
from muleteer.evaluate.batteries.shipped import Simulated
from muleteer.harness.events import LevelUse, TurnFailed, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Result


class Home:
    """`prompt` is how many tokens the flat loop may read. Of the harness's constant prompts those in
    `levels` are decoded before the first turn; all of them where it is None."""

    def __init__(
        self,
        catalogue: Catalogue,
        toolbox: Simulated,
        prompt: int,
        levels: Collection[str] | None = None,
    ) -> None:
        self._catalogue, self._toolbox, self._prompt, self._levels = catalogue, toolbox, prompt, levels
        self._harness: Harness | None = None
        self._flat: FlatTurns | None = None

    @property
    def called(self) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """What the last turn called."""
        return list(self._toolbox.called)

    async def warm(self, engine: Engine, side: str) -> None:
        """Decode what would lie in the context if this side had served the last turn, too."""
        if self._harness is None or self._flat is None:
            await self._move_in(engine)
            await self.warm(engine, side)
        elif side == HARNESS:
            await self._harness.warm()
        else:
            await self._flat.warm()

    async def _move_in(self, engine: Engine) -> None:
        harness = Harness(engine, self._catalogue, Budgets())
        await harness.prepare()
        for name, prompt in harness.prompts().items():
            if self._levels is None or name in self._levels:
                await engine.lane().warm(prompt)
        self._harness, self._flat = harness, FlatTurns(engine, self._toolbox, self._prompt)

    async def turn(
        self, side: str, message: str, results: Mapping[str, Sequence[Result]]
    ) -> tuple[str, Sequence[LevelUse]]:
        """What is said in the end, and what the levels used, where the tools return `results`."""
        if self._harness is None or self._flat is None:
            raise RuntimeError("a home is warm before its first turn")
        self._toolbox.begin(results)
        if side != HARNESS:
            return await self._flat.turn(message)
        async for event in self._harness.run(message):
            if isinstance(event, TurnFinished):
                return event.answer, event.levels
            if isinstance(event, TurnFailed):
                return f"(failed: {event.message})", event.levels
        return "", ()
