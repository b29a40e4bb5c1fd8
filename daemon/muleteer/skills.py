"""The one @-namespace that skills and tools share, and what leads to what.

Knows handles and mentions; knows nothing of files (`catalogue/skill_files.py`), models or turns.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from muleteer.catalogue.declared import Tool, handle_of
from muleteer.catalogue.shelf import OFF, Shelf
from muleteer.catalogue.skill_files import Skill, SkillLibrary, following, mentions, read_skill
from muleteer.catalogue.steering import Steering
from muleteer.tool import Effect
from muleteer.toolbox import Toolbox

EFFECTS: tuple[Effect, ...] = ("read", "write", "physical")  # from the weakest to the strongest
ADDRESSES = ("url", "uri")  # names and formats of parameters that hold a web address

__all__ = [
    "Catalogue",
    "Cost",
    "MenuLine",
    "Skill",
    "build_catalogue",
    "load_catalogue",
    "mentions",
    "read_skill",
]


@dataclass(frozen=True, slots=True)
class MenuLine:
    """What the planner reads of one handle (without the @), and what it is told beside that: the strongest
    `effect` of what the handle leads to, whether that needs a web `address`, and `words` that it has to do
    with (a tool's parameters), which no menu shows."""

    handle: str
    description: str
    examples: tuple[str, ...]
    effect: Effect = "read"
    address: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens by the model's own tokenizer: what the handle adds to the planner's prompt (its line and its
    examples; none without a line), the follower's prompt for a skill or what a tool's signature adds to one,
    and the agent's prompt for a tool; the prompts without the request."""

    planner: int
    follower: int
    agent: int = 0


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that has a handle. `disabled` holds the reason by skill name or folder, `stale` why a
    skill's newest version is not the one that is used, `origins` where each of both came from; the tools' own
    are in the toolbox. `steering` is what the user turned off and renamed, done already; `costs` what each
    handle costs, once it was measured, `notes` what is to be said of the menu as a whole; `were` the name on
    disk of each skill that was renamed."""

    skills: dict[str, Skill]
    toolbox: Toolbox
    disabled: dict[str, str] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    steering: Steering = field(default_factory=Steering)
    costs: dict[str, Cost] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    were: dict[str, str] = field(default_factory=dict)

    @property
    def handles(self) -> frozenset[str]:
        """Every handle that may be mentioned or chosen."""
        return frozenset(self.skills) | {tool.handle for tool in self.toolbox.tools.values()}

    @property
    def private(self) -> frozenset[str]:
        """The skills that are private, and those that lead to one."""
        found = {name for name, skill in self.skills.items() if skill.private}
        while more := {
            n for n, s in self.skills.items() if n not in found and found.intersection(s.mentions)
        }:
            found |= more
        return frozenset(found)

    def skill(self, handle: str) -> Skill | None:
        return self.skills.get(handle)

    def tool(self, handle: str) -> Tool | None:
        tool = self.toolbox.tools.get(handle.replace("-", "_"))
        return tool if tool is not None and tool.handle == handle else None

    def disable(self, handle: str, reason: str) -> None:
        """Take a skill or a tool out of use, and every skill that leads to nothing without it."""
        if tool := self.tool(handle):
            self.toolbox.disable(tool.name, reason)
        elif skill := self.skills.pop(handle, None):
            self.disabled[skill.name] = reason
        _disable_barren(self)

    def reasons(self) -> set[str]:
        """Why something is disabled or not the newest, apart from what the user turned off."""
        said = [each.values() for each in (self.disabled, self.toolbox.disabled)]
        kept = [each.values() for each in (self.stale, self.toolbox.stale)]
        return {
            *(f"Disabled: {reason}" for group in said for reason in group if not reason.startswith(OFF)),
            *(f"Using the last good version: {reason}" for group in kept for reason in group),
        }

    def menu(self) -> tuple[MenuLine, ...]:
        """The planner's lines: skills by name, then tools that have a line of their own, by name."""
        tools = sorted(self.toolbox.tools.values(), key=lambda tool: tool.handle)
        return (
            *(self._skill_line(skill) for _, skill in sorted(self.skills.items())),
            *(_tool_line(tool) for tool in tools if tool.menu and not tool.hidden),
        )

    def _skill_line(self, skill: Skill) -> MenuLine:
        effects = {tool.effect for tool in self.expand([skill.name])}
        strongest: Effect = max(effects, key=EFFECTS.index, default="read")
        return MenuLine(skill.name, skill.description, skill.examples, strongest)

    def expand(self, handles: Iterable[str]) -> tuple[Tool, ...]:
        """The tools these handles lead to, in the order of their first mention. Skills may mention each other
        in circles. A handle that is not there leads nowhere."""
        found: dict[str, Tool] = {}
        visited: set[str] = set()

        def walk(handle: str) -> None:
            if handle in visited:
                return
            visited.add(handle)
            if skill := self.skill(handle):
                for mention in skill.mentions:
                    walk(mention)
            elif tool := self.tool(handle):
                found[handle] = tool

        for handle in handles:
            walk(handle)
        return tuple(found.values())


def _tool_line(tool: Tool) -> MenuLine:
    """An address is needed where a required parameter is called one, or has its format."""
    properties = tool.parameters.get("properties")
    known = (
        {k: v for k, v in properties.items() if isinstance(v, dict)} if isinstance(properties, dict) else {}
    )
    required = tool.parameters.get("required", ())
    address = any(
        key in ADDRESSES or known[key].get("format") in ADDRESSES for key in known if key in required
    )
    words = " ".join(
        f"{key.replace('_', ' ')} {about.get('description', '')}" for key, about in known.items()
    )
    return MenuLine(tool.handle, tool.description, tool.examples, tool.effect, address, words)


def load_catalogue(folders: Sequence[Path], toolbox: Toolbox) -> Catalogue:
    """Every `<folder>/<name>/SKILL.md` with these tools; nothing turned off, nothing renamed."""
    return build_catalogue(SkillLibrary(folders).read(), toolbox, Steering())


def build_catalogue(shelf: Shelf[Skill], toolbox: Toolbox, steering: Steering) -> Catalogue:
    """The skills on the shelf with tools that are steered already. Skills that clash, mention what is not
    there or lead to nothing are disabled."""
    shelf.rename(dict(steering.skills.names), lambda skill, name: replace(skill, name=name))
    shelf.turn_off(steering.skills.off, steering.skills.names, "skills")
    skills, disabled = shelf.things, shelf.disabled
    _check_names(skills, toolbox, disabled)
    taken = {*skills, *map(handle_of, toolbox.tools)}
    renamed = {**steering.skills.names, **steering.tools.names}
    names = {old: new for old, new in renamed.items() if old not in taken}
    skills |= {name: following(skill, names) for name, skill in skills.items()}
    _check_mentions(skills, toolbox, disabled)
    catalogue = Catalogue(skills, toolbox, disabled, shelf.stale, shelf.origins, steering, were=shelf.were)
    _disable_barren(catalogue)
    return catalogue


def _check_names(skills: dict[str, Skill], toolbox: Toolbox, disabled: dict[str, str]) -> None:
    for tool in toolbox.tools.values():
        if skill := skills.pop(tool.handle, None):
            disabled[skill.name] = (
                f"@{skill.name} is both the skill {skill.path} and the tool {tool.name} "
                f"({tool.path or 'built in'}); rename one of them."
            )


def _check_mentions(skills: dict[str, Skill], toolbox: Toolbox, disabled: dict[str, str]) -> None:
    """What a skill mentions must exist, enabled or not."""
    tools = [handle_of(name) for name in (*toolbox.tools, *toolbox.disabled)]
    known = {*skills, *disabled, *tools}
    for name, skill in list(skills.items()):
        unknown = [f"@{handle}{_near(handle, known)}" for handle in skill.mentions if handle not in known]
        if unknown:
            disabled[name] = f"{skill.path} mentions what does not exist: {', '.join(unknown)}."
            del skills[name]


def _disable_barren(catalogue: Catalogue) -> None:
    """Disable skills that lead to no tool; losing one may leave another with nothing, hence the loop."""
    skills = catalogue.skills
    while lost := [skill for skill in skills.values() if not catalogue.expand([skill.name])]:
        for skill in lost:
            reason = f"{skill.path} leads to no usable tool; its steps must mention at least one @tool."
            catalogue.disabled[skill.name] = reason
            del skills[skill.name]


def _near(handle: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(handle.lower().replace("_", "-"), sorted(known), n=3)
    return f" (near: {', '.join('@' + name for name in near)})" if near else ""
