"""L1: one message, one menu, one choice.

Sees menu lines and example exchanges (`menu.py`), never a schema or a skill's steps. Rules take away what a
message cannot want; of the rest a constrained brain gives a distribution over the handles and `@reply`,
which is weighed (`weighing.py`) with how like the message is to their examples. Where that is unsure, the
nearest examples are shown and it is asked once more. A plan ends the level by `PlanSignal`, no plan returns.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from muleteer.engine.protocol import Conversation
from muleteer.errors import TooLongError
from muleteer.harness import rules, stopping, weighing
from muleteer.harness.brains import Lane
from muleteer.harness.ledger import Ledger
from muleteer.harness.likeness import MOST, Likeness
from muleteer.harness.menu import BESIDE, Exchange, Fit, constant_of, prompt_of, replies
from muleteer.harness.prompts import render
from muleteer.harness.signals import Plan, PlanSignal
from muleteer.harness.weighing import REPLY
from muleteer.skills import MenuLine

__all__ = ["REPLY", "Planner", "Weighed"]

# What a second look is shown: so many examples of each of so many likeliest handles, some 20 tokens each.
CANDIDATES, NEAR = 3, 2


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the planner found out. All shares are by handle and sum to 1: the `model`'s, those `again` after a
    second look (empty without one), and in `shares` what they and the `likeness` make. `ruled_out` holds
    why by handle; `beside` are the handles whose lines were shown for this message alone."""

    shares: dict[str, float]
    plan: Plan | None
    model: dict[str, float]
    likeness: dict[str, float]
    again: dict[str, float] = field(default_factory=dict)
    ruled_out: dict[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


class Planner:
    """`menu` is fixed for the planner's life; `prompt_limit` is in tokens, `fit` what of it is always shown
    (all without it)."""

    def __init__(self, menu: Sequence[MenuLine], prompt_limit: int, fit: Fit | None = None) -> None:
        self.menu = tuple(menu)
        self.handles = tuple(line.handle for line in menu)
        self.fit = fit or Fit.whole(menu)
        self._limit = prompt_limit
        self._lines = {line.handle: line for line in menu}
        self._constant = constant_of(menu, self.fit.exchanges, self.fit.shown)
        self._likeness: Likeness | None = None

    def learn(self) -> Likeness:
        """Fit the likeness to the menu's examples, once; up to a second of work on a small board. What has
        none is known by its description, unless that were too many."""
        if self._likeness is None:
            said = {line.handle: line.examples for line in self.menu if line.examples} | {REPLY: replies()}
            plain = [line for line in self.menu if not line.examples]
            if sum(map(len, said.values())) + len(plain) <= MOST:
                said |= {line.handle: (line.description,) for line in plain}
            self._likeness = Likeness(said)
        return self._likeness

    def only(self, handles: Collection[str]) -> Planner:
        """The same prompt, and of its handles only these to choose from."""
        fewer = copy.copy(self)
        fewer.handles = tuple(handle for handle in self.handles if handle in handles)
        return fewer

    def prompt(self, message: str, beside: Sequence[str] = (), near: Sequence[Exchange] = ()) -> Conversation:
        """With the lines of the handles `beside`, and the exchanges `near`, for this message alone."""
        return prompt_of(self._constant, message, [self._lines[handle] for handle in beside], near)

    async def plan(
        self,
        lane: Lane,
        ledger: Ledger,
        message: str,
        failed: Sequence[Plan] = (),
        among: Sequence[str] = (),
        evidence: Sequence[str] = (),
    ) -> float:
        """Raises `PlanSignal`, or returns how likely it is that the message only wants a reply. As
        `weigh`."""
        weighed = await self.weigh(lane, ledger, message, failed, among, evidence)
        if weighed.plan:
            raise PlanSignal(weighed.plan)
        return weighed.shares[REPLY]

    async def weigh(
        self,
        lane: Lane,
        ledger: Ledger,
        message: str,
        failed: Sequence[Plan] = (),
        among: Sequence[str] = (),
        evidence: Sequence[str] = (),
    ) -> Weighed:
        """What speaks for each handle. `failed` plans of this turn are told to the model and their handles
        are not offered again; `among` is the shortlist, best first: of the handles whose line is not always
        shown its best are shown and offered, those that `evidence` speaks for before them."""
        used = {handle for plan in failed for handle in plan.handles}
        there = [handle for handle in self.handles if handle not in used]
        lines = {handle: self._lines[handle] for handle in there}
        against = {
            h: rules.against(message, line) or stopping.against(message, line) for h, line in lines.items()
        }
        ruled_out = {h: why for h, why in against.items() if why}
        there = [handle for handle in there if handle not in ruled_out]
        first = dict.fromkeys((*evidence, *among))
        beside = tuple(h for h in first if h in there and h not in self.fit.shown)[:BESIDE]
        options = [*(h for h in there if h in self.fit.shown or h in beside), REPLY]
        asked = message
        if failed:
            handles = ", ".join(f"@{handle}" for handle in failed[-1].handles)
            asked = render("planner_replan", message=message, handles=handles)
        model = await self._ask(lane, ledger, self.prompt(asked, beside), options)
        likeness = {h: score for h, score in self.learn().scores(message).items() if h in model}
        shares, again = weighing.favoured(weighing.together(model, likeness), evidence), {}
        if max(shares.values()) < weighing.SURE:
            ranked = sorted(shares, key=lambda handle: -shares[handle])[:CANDIDATES]
            known = [h for h in ranked if h == REPLY or self._lines[h].examples]
            near = self.learn().nearest(message, known, NEAR)
            with suppress(TooLongError):  # a long message leaves no room for more; the first look counts
                again = await self._ask(lane, ledger, self.prompt(asked, beside, near), options)
                shares = weighing.together(again, likeness)  # it has seen more
                shares = weighing.favoured(shares, evidence)
        return Weighed(shares, weighing.decide(shares), model, likeness, again, ruled_out, beside)

    async def _ask(
        self, lane: Lane, ledger: Ledger, prompt: Conversation, options: Sequence[str]
    ) -> dict[str, float]:
        ledger.allow(1)
        choice = await lane.choose(prompt, [f"@{handle}" for handle in options], prompt_limit=self._limit)
        ledger.book("planner", choice.use)
        return dict(zip(options, choice.probabilities, strict=True))
