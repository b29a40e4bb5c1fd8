"""Static prompts are measured before the first turn: what cannot fit is disabled by name, a menu that is too
long is shown in part, and when nothing is left the daemon does not report itself ready.

Counts are the model's own tokenizer's. Nothing is decoded here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from muleteer.catalogue.declared import name_of
from muleteer.errors import ConfigError
from muleteer.harness import follower, tool_agent
from muleteer.harness.counting import Counts
from muleteer.harness.menu import BESIDE, Fit, constant_of, exchanges_of, one_round, prompt_of
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


async def fit_menu(counts: Counts, catalogue: Catalogue, budgets: Budgets) -> Fit:
    """Show fewer example exchanges, then fewer lines (those that servers brought go before any other, long
    ones before short ones), until menu and longest message fit; lines that are not shown are chosen among
    for each message. Where that does not do, disable the longest line and try again. Raises `ConfigError`
    when not even one line fits."""
    room = budgets.planner_prompt - budgets.message
    while True:
        menu = catalogue.menu()
        order = sorted(menu, key=lambda line: (_is_guest(catalogue, line), _length(line)))
        if fit := await _fit(counts, menu, order, room):
            return fit
        if len(menu) <= 1:
            last = f" (@{menu[0].handle} alone)" if menu else ""
            raise ConfigError(
                f"The planner's shortest menu{last} does not fit: budgets.planner_prompt - budgets.message"
                f" leaves {room} tokens; raise budgets.planner_prompt."
            )
        longest = order[-1].handle
        catalogue.disable(
            longest,
            f"@{longest} has the longest line of a menu that does not fit: budgets.planner_prompt -"
            f" budgets.message leaves {room} tokens. Shorten it or raise budgets.planner_prompt.",
        )


async def fit_lines(counts: Counts, menu: Sequence[MenuLine], budgets: Budgets) -> Fit:
    """As `fit_menu`, of lines that come from nowhere: none is disabled. Raises `ConfigError`."""
    room = budgets.planner_prompt - budgets.message
    if fit := await _fit(counts, menu, sorted(menu, key=_length), room):
        return fit
    raise ConfigError(f"A menu of {len(menu)} lines does not fit into {room} tokens.")


async def _fit(counts: Counts, menu: Sequence[MenuLine], order: Sequence[MenuLine], room: int) -> Fit | None:
    """As much of the menu as fits into so many tokens, of its lines the first in this order."""

    async def fits(fit: Fit) -> Fit | None:
        hidden = sorted((line for line in menu if line.handle not in fit.shown), key=_length)[-BESIDE:]
        tokens = await counts.count(prompt_of(constant_of(menu, fit.exchanges, fit.shown), "", hidden))
        return replace(fit, tokens=tokens) if tokens <= room else None

    async def most(low: int, high: int, make: Callable[[int], Fit]) -> Fit | None:
        """The largest of these that fits, by halving: more never needs fewer tokens."""
        found: Fit | None = None
        while low <= high:
            middle = (low + high) // 2
            if fit := await fits(make(middle)):
                found, low = fit, middle + 1
            else:
                high = middle - 1
        return found

    full = Fit.whole(menu)
    return (
        await fits(full)
        or await most(one_round(menu), full.exchanges, lambda n: replace(full, exchanges=n))
        or await most(0, len(order) - BESIDE - 1, lambda n: Fit.part(menu, order[:n]))
    )


async def costs(counts: Counts, catalogue: Catalogue, fit: Fit) -> dict[str, Cost]:
    """What each handle costs. Its part of the planner's prompt is what its line and those of its examples
    that are shown add to one without handles; a level that its turns skip costs nothing, and so does a line
    that is not always shown."""
    menu = catalogue.menu()
    constant = constant_of(menu, fit.exchanges, fit.shown)
    bare = await counts.count(prompt_of(constant_of((), 0), ""))
    shares: dict[str, int] = {}
    for line in menu:
        if line.handle in fit.shown:
            alone = (*constant_of((line,), 0), *exchanges_of(constant, line.handle))
            shares[line.handle] = await counts.count(prompt_of(alone, "")) - bare
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
