"""One catalogue on one brain: what the planner is shown, measured, with every static prompt.

Knows budgets and prompts. Does not know turns: `turn.py` runs them over what is arranged here.
"""

from __future__ import annotations

import asyncio
import copy

from muleteer.engine.protocol import Conversation
from muleteer.harness import constants, measure
from muleteer.harness.brains import Brain
from muleteer.harness.counting import Counted
from muleteer.harness.evidence import Evidence, NoEvidence
from muleteer.harness.menu import Fit, crowding
from muleteer.harness.planner import Planner
from muleteer.harness.shortlist import Shortlist
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue


class Arrangement:
    """`planner` and `shortlist` over the catalogue that is in use. After a renewal `planner` still has the
    old prompt, which is decoded, and chooses among what is left of it, until the next one is decoded."""

    def __init__(self, brain: Brain, catalogue: Catalogue, budgets: Budgets) -> None:
        self.brain, self.catalogue, self.budgets = brain, catalogue, budgets
        self.evidence: Evidence = NoEvidence()
        self.instructions = ""
        """What the levels that write are told beside our rules: a guest's, in a copy made for its turn."""
        self._counted: dict[bytes, int] = {}
        self._arrange(None)

    def _arrange(self, fit: Fit | None) -> None:
        menu = self.catalogue.menu()
        self.planner = Planner(menu, self.budgets.planner_prompt, fit)
        self._next: Planner | None = None
        self.shortlist = Shortlist(menu)

    async def prepare(self) -> None:
        """Measure every static prompt and decode the planner's. Raises `ConfigError` when that cannot fit."""
        await self.measure()
        await self.warm()

    async def measure(self) -> int:
        """Disable by name what cannot fit; the tokens of the planner's prompt. Raises `ConfigError` when that
        cannot."""
        counts = Counted(self.brain.lane(), self._counted)
        await measure.disable_what_cannot_fit(counts, self.catalogue, self.budgets)
        fit = await measure.fit_menu(counts, self.catalogue, self.budgets)
        self._arrange(fit)
        await asyncio.to_thread(self.planner.learn)
        self.catalogue.costs.update(await measure.costs(counts, self.catalogue, fit))
        self.catalogue.notes[:] = filter(None, [crowding(self.planner.menu, fit)])
        self._counted = counts.known
        return fit.tokens

    async def renew(self, catalogue: Catalogue) -> None:
        """Measure another catalogue, and use it from the next turn on; turns that run keep theirs, and what
        is new on the menu is chosen after `take_up`. Raises as `measure` does; then nothing has changed."""
        new = copy.copy(self)
        new.catalogue = catalogue
        await new.measure()
        self.catalogue, self.shortlist, self._next = catalogue, new.shortlist, new.planner
        self.planner = self.planner.only(new.planner.handles)
        self._counted = new._counted

    def menu_report(self) -> dict[str, object]:
        """How full the planner's prompt is: lines and example exchanges that are always shown, in tokens."""
        fit = self.planner.fit
        return {
            "lines": len(self.planner.menu),
            "shown": len(fit.shown),
            "exchanges": fit.exchanges,
            "tokens": fit.tokens,
            "room": self.budgets.planner_prompt - self.budgets.message,
            "notes": list(self.catalogue.notes),
        }

    def take_up(self) -> None:
        """The planner's prompt, as `prompts` has it, is decoded: plan with it."""
        if self._next:
            self.planner, self._next = self._next, None

    async def warm(self) -> None:
        """Decode the planner's prompt, which every turn begins with; costs nothing where it is kept."""
        await self.brain.warm(self.planner.prompt(""))

    def prompts(self) -> dict[str, Conversation]:
        """Every static prompt by the name of its level, in the menu's order, the planner's as it shall be;
        see `constants`."""
        return constants.prompts(self.catalogue, self._next or self.planner)
