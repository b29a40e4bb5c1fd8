"""What the daemon can do, as `GET /v1/skills` and `GET /v1/tools` list it, disabled ones with the reason."""

from __future__ import annotations

from muleteer.skills import Catalogue, Skill
from muleteer.toolbox import Tool


def list_skills(catalogue: Catalogue) -> dict[str, object]:
    """`{"skills": [...]}` by name; a disabled skill's other fields are empty."""
    enabled = [_skill(catalogue, skill) for skill in catalogue.skills.values()]
    disabled: list[dict[str, object]] = [
        {"name": name, "description": "", "state": "disabled", "reason": reason, "examples": [], "tools": []}
        for name, reason in catalogue.disabled.items()
    ]
    return {"skills": sorted(enabled + disabled, key=_by_name)}


def list_tools(catalogue: Catalogue) -> dict[str, object]:
    """`{"tools": [...]}` by name; of a disabled tool only name and reason are known."""
    toolbox = catalogue.toolbox
    enabled = [_tool(tool) for tool in toolbox.tools.values()]
    disabled: list[dict[str, object]] = [
        {"name": name, "state": "disabled", "reason": reason} for name, reason in toolbox.disabled.items()
    ]
    return {"tools": sorted(enabled + disabled, key=_by_name)}


def _skill(catalogue: Catalogue, skill: Skill) -> dict[str, object]:
    return {
        "name": skill.name,
        "description": skill.description,
        "state": "enabled",
        "reason": "",
        "examples": list(skill.examples),
        "tools": [tool.name for tool in catalogue.expand([skill.name])],
    }


def _tool(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "handle": tool.handle,
        "description": tool.description,
        "effect": tool.effect,
        "menu": tool.menu,
        "hidden": tool.hidden,
        "network": tool.network,
        "state": "enabled",
        "reason": "",
    }


def _by_name(entry: dict[str, object]) -> str:
    return str(entry["name"])
