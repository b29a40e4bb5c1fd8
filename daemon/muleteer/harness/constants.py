"""The prompts whose beginning never changes: what there is to decode before anybody asks.

Knows which level has which prompt. Does not know which of them matter, or whether they are decoded.
"""

from __future__ import annotations

from collections.abc import Iterable

from muleteer.engine.protocol import Conversation
from muleteer.harness import answer, follower, tool_agent
from muleteer.harness.events import Outcome, TurnFailed
from muleteer.harness.planner import Planner
from muleteer.skills import Catalogue
from muleteer.toolbox import Tool


def prompts(catalogue: Catalogue, planner: Planner) -> dict[str, Conversation]:
    """By name: `planner`, then in the menu's order `follower:<skill>` and `agent:<tool>`, then `reply` and
    `answer`. What no plan can reach, and levels that a turn skips, have none."""
    found = {"planner": planner.prompt("")}
    for handle in planner.handles:
        tools = catalogue.expand([handle])
        skill = catalogue.skill(handle)
        if skill and follower.follows(skill, tools):
            found[f"follower:{handle}"] = follower.opening(tools, skill.steps, "")
        found |= {f"agent:{tool.name}": tool_agent.prompt(tool, "") for tool in _asked(tools)}
    return found | {"reply": answer.reply_prompt("", ()), "answer": answer.answer_prompt("", "")}


def used(turn: Outcome) -> list[str]:
    """The names of the prompts that a turn needed, each once, apart from the planner's."""
    names = dict.fromkeys(level.name for level in turn.levels)
    if "follower" in names and not isinstance(turn, TurnFailed) and len(turn.handles) == 1:
        names[f"follower:{turn.handles[0]}"] = None
    return [name for name in names if name not in ("planner", "follower")]


def _asked(tools: Iterable[Tool]) -> list[Tool]:
    """A tool without parameters needs no agent."""
    return [tool for tool in tools if tool.parameters.get("properties")]
