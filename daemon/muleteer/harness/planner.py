"""L1: one message, one menu, one choice.

Sees menu lines and example exchanges, never a schema or a skill's steps. The menu text is constant, so its
tokens stay decoded; the message comes last. On a constrained brain the plan is a distribution over the
handles and `@reply`; a plan ends the level by `PlanSignal`, no plan returns.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence

from muleteer.engine.protocol import Conversation, Message
from muleteer.harness.brains import Lane
from muleteer.harness.ledger import Ledger
from muleteer.harness.prompts import render
from muleteer.harness.signals import Plan, PlanSignal
from muleteer.skills import MenuLine

REPLY = "reply"

# Example messages that need no handle; beside the skills' own examples they teach where the menu ends.
REPLY_EXAMPLES = (
    "good morning",
    "what is the capital of Denmark",
    "who invented the telephone",
    "how do I get better at chess",
    "order a pizza for me",
    "at what temperature does gold melt",
    "tell me something funny",
    "sag auf Spanisch: ich bin müde",
    "how do I bake bread",
    "forget what I told you",
    "how high is the Eiffel tower",
    "will it rain in London tomorrow",
    "how do magnets work",
    "what are you good at",
    "when did the second world war end",
)

# Example exchanges of each handle, at most. One costs some 20 tokens; all that the shipped handles have would
# not fit budgets.planner_prompt. As lines of the system text they cost half, and were worth much less.
ROUNDS = 3

# Replies among the exchanges of one round.
ROUND_REPLIES = 5

# A second handle joins the plan only when it is nearly as likely as the first: at 0.3 every second handle in
# 76 messages was a mistake, and the follower then had to choose between the wrong one and the right one.
SECOND_SHARE = 0.4

# `@reply` must be at least this likely; below it the likeliest handles are given to L2, which may still
# finish without a call. A wrong reply costs the answer, a needless L2 only seconds.
REPLY_SHARE = 0.5


class Planner:
    """`menu` is fixed for the planner's life; `prompt_limit` is in tokens, `rounds` the most example
    exchanges of a handle."""

    def __init__(self, menu: Sequence[MenuLine], prompt_limit: int, rounds: int = ROUNDS) -> None:
        self.menu = tuple(menu)
        self.handles = tuple(line.handle for line in menu)
        self._limit = prompt_limit
        lines = "\n".join(f"- @{line.handle}: {line.description}" for line in menu)
        constant = [Message("system", render("planner", menu=lines))]
        for said, handle in _interleave(menu, rounds):
            constant += [Message("user", said), Message("assistant", f"@{handle}")]
        self._constant = tuple(constant)

    def only(self, handles: Collection[str]) -> Planner:
        """The same prompt, and of its handles only these to choose from."""
        fewer = copy.copy(self)
        fewer.handles = tuple(handle for handle in self.handles if handle in handles)
        return fewer

    def prompt(self, message: str) -> Conversation:
        return Conversation((*self._constant, Message("user", message)), constant=len(self._constant))

    async def plan(
        self,
        lane: Lane,
        ledger: Ledger,
        message: str,
        failed: Sequence[Plan] = (),
        among: Collection[str] = (),
    ) -> float:
        """Raises `PlanSignal`, or returns how likely it is that the message only wants a reply.

        `failed` plans of this turn are told to the model and their handles are not offered again; `among`
        (if given) is the shortlist of handles that are scored.
        """
        used = {handle for plan in failed for handle in plan.handles}
        options = [h for h in self.handles if h not in used and (not among or h in among)] + [REPLY]
        if failed:
            handles = ", ".join(f"@{handle}" for handle in failed[-1].handles)
            message = render("planner_replan", message=message, handles=handles)
        ledger.allow(1)
        choice = await lane.choose(
            self.prompt(message), [f"@{handle}" for handle in options], prompt_limit=self._limit
        )
        ledger.book("planner", choice.use)
        shares = dict(zip(options, choice.probabilities, strict=True))
        if plan := decide(shares):
            raise PlanSignal(plan)
        return shares[REPLY]


def decide(shares: dict[str, float]) -> Plan | None:
    """The plan that a distribution over handles (with `reply`) stands for; None is a reply."""
    ranked = sorted((h for h in shares if h != REPLY), key=lambda h: -shares[h])
    if not ranked or shares[REPLY] >= REPLY_SHARE:
        return None
    chosen = [ranked[0], *(h for h in ranked[1:] if shares[h] >= SECOND_SHARE)]
    return Plan(tuple(chosen), shares[ranked[0]])


def _interleave(menu: Sequence[MenuLine], rounds: int) -> list[tuple[str, str]]:
    """Example exchanges in rounds that have one of each handle, with replies strewn among them, so that the
    model can learn neither "the same again" nor "in the end a reply"."""
    found: list[tuple[str, str]] = []
    columns = [(_spread(line.examples, rounds), line.handle) for line in menu]
    for number in range(rounds):
        said = [(examples[number], handle) for examples, handle in columns if number < len(examples)]
        replies = [(each, REPLY) for each in REPLY_EXAMPLES[number * ROUND_REPLIES :][:ROUND_REPLIES]]
        every = max(1, len(said) // len(replies))
        for index in range(0, max(len(said), every * len(replies)), every):
            found += [*said[index : index + every], *replies[index // every : index // every + 1]]
    return found


def _spread(examples: Sequence[str], most: int) -> list[str]:
    """The first, the last, and those evenly between: other languages often come last."""
    if len(examples) <= most:
        return list(examples)
    return [examples[number * (len(examples) - 1) // max(1, most - 1)] for number in range(most)]
