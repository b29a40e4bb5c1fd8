"""What only the model can tell about a skill: what it costs in tokens, and where its examples lead.

Asks in a background lane, so that turns go first. Runs no tool and changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from muleteer.catalogue.lint import Problem
from muleteer.harness import follower, measure
from muleteer.harness.brains import Brain, Lane
from muleteer.harness.ledger import Ledger
from muleteer.harness.planner import REPLY, Planner
from muleteer.harness.shortlist import Shortlist
from muleteer.harness.signals import PlanSignal
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, Skill


async def weigh(
    brain: Brain, skill: Skill, catalogue: Catalogue, budgets: Budgets
) -> AsyncIterator[Problem | tuple[str, int]]:
    """Problems of one skill of a catalogue, and its tokens by level. Raises `EngineError`."""
    lane = brain.lane(True)
    tools = catalogue.expand([skill.name])
    if follower.follows(skill, tools):
        tokens = await lane.count(follower.opening(tools, skill.steps, ""))
        yield "follower", tokens
        room = budgets.follower_prompt - budgets.message
        if tokens > room:
            yield Problem(
                "tokens",
                f"its steps need {tokens} tokens, but budgets.follower_prompt - budgets.message leaves"
                f" {room}; shorten them",
            )
        if skill.budget is not None and tokens > skill.budget:
            yield Problem("tokens", f"its steps need {tokens} tokens, but metadata.budget is {skill.budget}")
    fit = await measure.fit_menu(lane, catalogue, budgets)
    yield "planner", fit.tokens
    if skill.name not in fit.shown:
        yield Problem(
            "tokens",
            "with it the menu is longer than budgets.planner_prompt - budgets.message, so that its line is"
            " shown only for messages with its words; shorten its description",
        )
    planner, shortlist = Planner(catalogue.menu(), budgets.planner_prompt, fit), Shortlist(catalogue.menu())
    await asyncio.to_thread(planner.learn)
    for said in skill.examples:
        handles = await _chosen(lane, planner, shortlist.pick(said), said, budgets)
        if skill.name not in handles:
            yield Problem(
                "route", f'the example "{said}" leads to {", ".join("@" + each for each in handles)}'
            )


async def _chosen(
    lane: Lane, planner: Planner, among: Sequence[str], message: str, budgets: Budgets
) -> tuple[str, ...]:
    try:
        await planner.plan(lane, Ledger(budgets.turn, lambda event: None), message, (), among)
    except PlanSignal as signal:
        return signal.plan.handles
    return (REPLY,)
