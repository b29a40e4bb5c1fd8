"""What only the model can tell about a skill: what it costs in tokens, and where its examples lead.

Asks in a background lane, so that turns go first. Runs no tool and changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from muleteer.catalogue.lint import Problem
from muleteer.harness import follower
from muleteer.harness.brains import Brain, Lane
from muleteer.harness.ledger import Ledger
from muleteer.harness.planner import REPLY, ROUNDS, Planner
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
    planner, tokens = await _planner(lane, catalogue, budgets)
    yield "planner", tokens
    room = budgets.planner_prompt - budgets.message
    if tokens > room:
        yield Problem(
            "tokens",
            f"with it the menu needs {tokens} tokens, but budgets.planner_prompt - budgets.message leaves"
            f" {room}; shorten its description",
        )
        return
    for said in skill.examples:
        handles = await _chosen(lane, planner, said, budgets)
        if skill.name not in handles:
            yield Problem(
                "route", f'the example "{said}" leads to {", ".join("@" + each for each in handles)}'
            )


async def _planner(lane: Lane, catalogue: Catalogue, budgets: Budgets) -> tuple[Planner, int]:
    """The planner of that menu with as many examples as fit, and the tokens of its prompt."""
    menu = catalogue.menu()
    for rounds in range(ROUNDS, 0, -1):
        planner = Planner(menu, budgets.planner_prompt, rounds)
        tokens = await lane.count(planner.prompt(""))
        if tokens <= budgets.planner_prompt - budgets.message:
            break
    return planner, tokens


async def _chosen(lane: Lane, planner: Planner, message: str, budgets: Budgets) -> tuple[str, ...]:
    try:
        await planner.plan(lane, Ledger(budgets.turn, lambda event: None), message)
    except PlanSignal as signal:
        return signal.plan.handles
    return (REPLY,)
