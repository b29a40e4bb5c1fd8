"""What the daemon can do, as `GET /v1/skills` and `GET /v1/tools` list it: what each thing costs, where it
is from, and why what is disabled cannot be used."""

from __future__ import annotations

from dataclasses import asdict

from muleteer.catalogue.declared import NAME, handle_of
from muleteer.catalogue.skill_files import NAME as HANDLE
from muleteer.skills import Catalogue, Skill
from muleteer.toolbox import Tool

Entry = dict[str, object]


def list_skills(catalogue: Catalogue) -> dict[str, list[Entry]]:
    """`{"skills": [...]}` by name. `origin` is `shipped`, a folder or a package, `on_disk` the handle there,
    `tokens` what it costs at each level, or null before that is measured. What is disabled has fewer fields.
    `notes`, if there are any, are texts on the menu as a whole.
    """
    notes: list[Entry] = [{"text": note} for note in catalogue.notes]
    return {"skills": sorted(_skills(catalogue), key=_by_name)} | ({"notes": notes} if notes else {})


def list_tools(catalogue: Catalogue) -> dict[str, list[Entry]]:
    """`{"tools": [...]}`, like the skills."""
    return {"tools": sorted(_tools(catalogue), key=_by_name)}


def _skills(catalogue: Catalogue) -> list[Entry]:
    enabled = [
        _skill(catalogue, skill)
        | _common(
            catalogue,
            catalogue.were.get(name, name),
            name,
            catalogue.stale.get(name, ""),
            catalogue.origins.get(name, ""),
        )
        for name, skill in catalogue.skills.items()
    ]
    disabled: list[Entry] = []
    for name, reason in catalogue.disabled.items():
        handle = name if HANDLE.fullmatch(name) else ""
        disabled.append(
            {"name": name, "handle": handle, "description": "", "examples": [], "tools": []}
            | _disabled(catalogue.were.get(handle, handle), reason, catalogue.origins.get(name, ""))
        )
    return enabled + disabled


def _tools(catalogue: Catalogue) -> list[Entry]:
    toolbox = catalogue.toolbox
    enabled = [
        _tool(tool)
        | _common(
            catalogue,
            handle_of(toolbox.were.get(name, name)),
            tool.handle,
            toolbox.stale.get(name, ""),
            toolbox.origins.get(name, ""),
        )
        for name, tool in toolbox.tools.items()
    ]
    disabled: list[Entry] = []
    for name, reason in toolbox.disabled.items():
        handle = handle_of(name) if NAME.fullmatch(name) else ""
        disabled.append(
            {"name": name, "handle": handle}
            | _disabled(
                handle and handle_of(toolbox.were.get(name, name)), reason, toolbox.origins.get(name, "")
            )
        )
    return enabled + disabled


def _common(catalogue: Catalogue, on_disk: str, handle: str, stale: str, origin: str) -> Entry:
    cost = catalogue.costs.get(handle)
    return {
        "state": "enabled",
        "reason": f"the newest version is broken: {stale}" if stale else "",
        "origin": origin,
        "on_disk": on_disk,
        "tokens": asdict(cost) if cost else None,
    }


def _disabled(on_disk: str, reason: str, origin: str) -> Entry:
    return {
        "state": "disabled",
        "reason": reason,
        "origin": origin,
        "on_disk": on_disk,
        "tokens": None,
    }


def _skill(catalogue: Catalogue, skill: Skill) -> Entry:
    return {
        "name": skill.name,
        "handle": skill.name,
        "description": skill.description,
        "examples": list(skill.examples),
        "tools": [tool.name for tool in catalogue.expand([skill.name])],
        "schedule": skill.schedule,
    }


def _tool(tool: Tool) -> Entry:
    return {
        "name": tool.name,
        "handle": tool.handle,
        "description": tool.description,
        "effect": tool.effect,
        "menu": tool.menu,
        "hidden": tool.hidden,
        "network": tool.network,
    }


def _by_name(entry: Entry) -> str:
    return str(entry["name"])
