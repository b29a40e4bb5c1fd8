"""Static prompts are measured before the first turn: what cannot fit is disabled by name, or the daemon
does not report itself ready.

Counts are the model's own tokenizer's. Nothing is decoded here.
"""

from __future__ import annotations

from muleteer.config import Budgets
from muleteer.errors import ConfigError
from muleteer.harness import follower, tool_agent
from muleteer.harness.brains import Brain
from muleteer.harness.planner import Planner
from muleteer.skills import Catalogue


async def disable_what_cannot_fit(brain: Brain, catalogue: Catalogue, budgets: Budgets) -> None:
    """Disable each tool whose schema, and each skill whose steps, leave no room for a longest message."""
    room = budgets.agent_prompt - budgets.message
    for tool in list(catalogue.toolbox.tools.values()):
        if (tokens := await brain.count(tool_agent.prompt(tool, ""))) > room:
            catalogue.disable(tool.handle, _reason(tool.handle, tokens, room, "agent_prompt"))
    room = budgets.follower_prompt - budgets.message
    for skill in list(catalogue.skills.values()):
        opening = follower.opening(catalogue.expand([skill.name]), skill.steps, "")
        if (tokens := await brain.count(opening)) > room:
            catalogue.disable(skill.name, _reason(skill.name, tokens, room, "follower_prompt"))


async def check_planner(brain: Brain, planner: Planner, budgets: Budgets) -> None:
    """Raises `ConfigError`, naming the longest menu lines, when menu and longest message do not fit."""
    room = budgets.planner_prompt - budgets.message
    tokens = await brain.count(planner.prompt(""))
    if tokens > room:
        longest = sorted(planner.menu, key=lambda line: -len(line.description + "".join(line.examples)))[:3]
        names = ", ".join(f"@{line.handle}" for line in longest)
        raise ConfigError(
            f"The planner's menu needs {tokens} tokens, but budgets.planner_prompt - budgets.message leaves"
            f" {room}. Disable or shorten skills (the longest: {names}) or raise budgets.planner_prompt."
        )


def _reason(handle: str, tokens: int, room: int, budget: str) -> str:
    return (
        f"@{handle} needs {tokens} tokens, but budgets.{budget} - budgets.message leaves {room}."
        f" Shorten it or raise budgets.{budget}."
    )
