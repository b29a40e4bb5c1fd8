"""The routing battery: each message to the planner, over one menu or several.

A menu is a side of the battery: `shipped` is the one in use, `+5` has so many of a stranger's tools beside
it, and `8` is a menu of eight in all, of which each message gets the one that holds its handle. Knows the
planner; what comes of it is counted in `figures.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from muleteer.engine.client import Engine
from muleteer.errors import ConfigError
from muleteer.evaluate.batteries.battery import Answered, Case
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.routing.cases import Line, foreign_lines
from muleteer.harness import measure
from muleteer.harness.events import LevelUse
from muleteer.harness.ledger import Ledger
from muleteer.harness.moods import asks
from muleteer.harness.planner import REPLY, Planner
from muleteer.harness.shortlist import Shortlist
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, MenuLine

SHIPPED = "shipped"
NO_LIMIT = 10**6  # tokens of a turn: a battery is no turn
SIDE = re.compile(r"shipped|\+?\d{1,2}")
SHARES = 6  # the likeliest handles that are written down


class Routing:
    """`menus` as in the module's docstring."""

    name = "routing"
    together = True
    context = 4096

    def __init__(
        self, lines: Sequence[Line], catalogue: Catalogue, budgets: Budgets, menus: Sequence[str] = (SHIPPED,)
    ) -> None:
        self._lines = {f"{line.number}": line for line in lines}
        self._catalogue, self._budgets = catalogue, budgets
        self._effects = {line.handle: line.effect for line in (*catalogue.menu(), *foreign_lines())}
        self._planners: dict[tuple[str, int], tuple[Planner, Shortlist]] = {}
        self._menus = {menu: self._cut(menu) for menu in menus}
        self.sides: Sequence[str] = tuple(menus)
        self.cases: Sequence[Case] = [Case(id, line.handle) for id, line in self._lines.items()]
        shown = [json.dumps(asdict(line)) for menu in self._menus.values() for part in menu for line in part]
        self.digest = digest_of([*shown, *(f"{line.message}\t{line.handle}" for line in lines)])

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        planner, _ = await self._planner(engine, case, side)
        await engine.lane().warm(planner.prompt(""))

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        line = self._lines[case.id]
        planner, shortlist = await self._planner(engine, case, side)
        ledger = Ledger(NO_LIMIT, lambda event: None)
        among = shortlist.pick(line.message)
        weighed = await planner.weigh(engine.lane(), ledger, line.message, (), among)
        chosen = weighed.plan.handles if weighed.plan else (REPLY,)
        ranked = sorted(weighed.shares.items(), key=lambda each: -each[1])[:SHARES]
        extra = {
            "message": line.message,
            "half": line.half,
            "confidence": round(weighed.plan.confidence if weighed.plan else weighed.shares[REPLY], 4),
            "shares": {handle: round(share, 4) for handle, share in ranked},
            "model": _rounded(weighed.model),
            "seen_again": _rounded(weighed.again),
            "likeness": _rounded(weighed.likeness),
            "related": self._related(line.handle, chosen[0]),
            "asks": asks(line.message),
            "effect": self._effects.get(chosen[0], "read"),
            "wanted_effect": self._effects.get(line.handle, "read"),
            "again": bool(weighed.again),
            "menu_tokens": planner.fit.tokens,
        }
        got = "+".join(chosen)
        right = got == line.handle
        return Answered(right, got, "" if right else f"{line.handle} was wanted", extra), ledger.levels

    def _related(self, wanted: str, chosen: str) -> bool:
        """Whether one of the two is a skill, and the other a tool that belongs to it."""
        pairs = ((wanted, chosen), (chosen, wanted))
        return any(
            self._catalogue.skill(skill) is not None
            and tool in {each.handle for each in self._catalogue.expand([skill])}
            for skill, tool in pairs
        )

    async def _planner(self, engine: Engine, case: Case, side: str) -> tuple[Planner, Shortlist]:
        """Of the part of a menu that this message is asked with."""
        parts, line = self._menus[side], self._lines[case.id]
        holding = [i for i, part in enumerate(parts) if line.handle in {each.handle for each in part}]
        number = (holding or [hashlib.sha256(line.message.encode()).digest()[0] % len(parts)])[0]
        if (side, number) not in self._planners:
            menu = parts[number]
            fit = await measure.fit_lines(engine, menu, self._budgets)
            planner = Planner(menu, self._budgets.planner_prompt, fit)
            self._planners[side, number] = planner, Shortlist(menu)
        return self._planners[side, number]

    def _cut(self, side: str) -> list[Sequence[MenuLine]]:
        """The menus of a side. Raises `ConfigError` for one that there is not."""
        if not SIDE.fullmatch(side) or side in ("0", "+0", "1"):
            raise ConfigError(f"There is no menu {side!r}; write shipped, +5 (more tools) or 8 (lines).")
        shipped, foreign = self._catalogue.menu(), foreign_lines()
        if side == SHIPPED:
            return [shipped]
        wanted = int(side)
        most = len(foreign) if side.startswith("+") else len(shipped) + len(foreign)
        if wanted > most:
            raise ConfigError(f"The menu {side} is larger than what there is: {most}.")
        if side.startswith("+"):
            return [(*shipped, *foreign[:wanted])]
        mixed = sorted(shipped, key=lambda line: hashlib.sha256(line.handle.encode()).digest())
        parts = [mixed[at : at + wanted] for at in range(0, len(mixed), wanted)]
        return [_filled(part, (*foreign, *mixed), wanted) for part in parts]


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {handle: round(value, 5) for handle, value in values.items()}


def _filled(part: Sequence[MenuLine], others: Sequence[MenuLine], wanted: int) -> Sequence[MenuLine]:
    more = [line for line in others if line not in part]
    return [*part, *more[: wanted - len(part)]]
