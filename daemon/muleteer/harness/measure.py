"""Static prompts are measured before the first turn: what cannot fit is disabled by name, and when nothing
is left the daemon does not report itself ready.

Counts are the model's own tokenizer's. Nothing is decoded here.
"""

from __future__ import annotations

from muleteer.catalogue.declared import name_of
from muleteer.errors import ConfigError
from muleteer.harness import follower, tool_agent
from muleteer.harness.counting import Counts
from muleteer.harness.planner import ROUNDS, Planner
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, Cost, MenuLine


async def disable_what_cannot_fit(counts: Counts, catalogue: Catalogue, budgets: Budgets) -> None:
    """Disable each tool whose schema, and each skill whose steps, leave no room for a longest message."""
    room = budgets.agent_prompt - budgets.message
    for tool in list(catalogue.toolbox.tools.values()):
        if (tokens := await counts.count(tool_agent.prompt(tool, ""))) > room:
            catalogue.disable(tool.handle, _reason(tool.handle, tokens, room, "agent_prompt"))
    room = budgets.follower_prompt - budgets.message
    for skill in list(catalogue.skills.values()):
        opening = follower.opening(catalogue.expand([skill.name]), skill.steps, "")
        if (tokens := await counts.count(opening)) > room:
            catalogue.disable(skill.name, _reason(skill.name, tokens, room, "follower_prompt"))


async def disable_until_menu_fits(counts: Counts, catalogue: Catalogue, budgets: Budgets) -> tuple[int, int]:
    """Show fewer examples, and then disable the longest menu lines (those that servers brought before any
    other), one by one, until menu and longest message fit; the rounds of examples and the tokens of that
    prompt. Raises `ConfigError` when not even one line fits."""
    room = budgets.planner_prompt - budgets.message
    while True:
        menu = catalogue.menu()
        for rounds in range(ROUNDS, 0, -1):
            tokens = await counts.count(Planner(menu, budgets.planner_prompt, rounds).prompt(""))
            if tokens <= room:
                return rounds, tokens
        if len(menu) <= 1:
            last = f" (@{menu[0].handle} alone)" if menu else ""
            raise ConfigError(
                f"The planner's shortest menu{last} needs {tokens} tokens, but"
                f" budgets.planner_prompt - budgets.message leaves {room}; raise budgets.planner_prompt."
            )
        guests = [line for line in menu if _is_guest(catalogue, line)]
        longest = max(guests or menu, key=_length).handle
        which = "a server's longest line" if guests else "the longest line"
        catalogue.disable(
            longest,
            f"@{longest} has {which} of a menu that needs {tokens} tokens, but"
            f" budgets.planner_prompt - budgets.message leaves {room}. Shorten it or raise"
            " budgets.planner_prompt.",
        )


async def costs(counts: Counts, catalogue: Catalogue, budgets: Budgets, rounds: int) -> dict[str, Cost]:
    """What each handle costs. Its part of the planner's prompt, which has so many rounds of examples, is what
    it adds to one without handles; a level that its turns skip costs nothing."""
    bare = await counts.count(Planner([], budgets.planner_prompt, rounds).prompt(""))
    shares: dict[str, int] = {}
    for line in catalogue.menu():
        alone = await counts.count(Planner([line], budgets.planner_prompt, rounds).prompt(""))
        shares[line.handle] = alone - bare
    found: dict[str, Cost] = {}
    for tool in catalogue.toolbox.tools.values():
        signature = await counts.count(f"- {tool.signature}\n")
        agent = await counts.count(tool_agent.prompt(tool, "")) if tool.parameters.get("properties") else 0
        found[tool.handle] = Cost(shares.get(tool.handle, 0), signature, agent)
    for skill in catalogue.skills.values():
        tools = catalogue.expand([skill.name])
        opening = follower.opening(tools, skill.steps, "")
        steps = await counts.count(opening) if follower.follows(skill, tools) else 0
        found[skill.name] = Cost(shares.get(skill.name, 0), steps)
    return found


def _is_guest(catalogue: Catalogue, line: MenuLine) -> bool:
    tool = catalogue.toolbox.tools.get(name_of(line.handle))
    return tool is not None and tool.guest


def _length(line: MenuLine) -> int:
    return sum(map(len, (line.handle, line.description, *line.examples)))


def _reason(handle: str, tokens: int, room: int, budget: str) -> str:
    return (
        f"@{handle} needs {tokens} tokens, but budgets.{budget} - budgets.message leaves {room}."
        f" Shorten it or raise budgets.{budget}."
    )
