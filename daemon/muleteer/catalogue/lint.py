"""What is wrong with a skill beside its form: what it mentions, where that leads, what it has in common.

Pure: a catalogue in, sentences out. What only a model can tell (tokens, where examples lead) is in
`harness/checking.py`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from muleteer.catalogue.declared import handle_of
from muleteer.skills import Catalogue, Skill


@dataclass(frozen=True, slots=True)
class Problem:
    """`kind` is form, handle, cycle, example, schedule, tokens or route."""

    kind: str
    text: str


def together(catalogue: Catalogue, given: Mapping[str, Skill]) -> Catalogue:
    """The catalogue as it would be with these skills; the one in use stays as it is."""
    return replace(catalogue, skills={**catalogue.skills, **given}, disabled=dict(catalogue.disabled))


def lint(skill: Skill, catalogue: Catalogue) -> Iterator[Problem]:
    """Everything found in one skill of a catalogue."""
    toolbox = catalogue.toolbox
    usable = catalogue.handles
    off = {*catalogue.disabled, *map(handle_of, toolbox.disabled)} - usable
    for handle in skill.mentions:
        if handle in off:
            yield Problem("handle", f"it mentions @{handle}, which is disabled")
        elif handle not in usable:
            near = difflib.get_close_matches(handle.lower().replace("_", "-"), sorted(usable), n=3)
            hint = f"; near: {', '.join('@' + name for name in near)}" if near else ""
            yield Problem("handle", f"it mentions @{handle}, which does not exist{hint}")
    if catalogue.tool(skill.name):
        yield Problem("handle", f"@{skill.name} is the name of a tool already")
    if not catalogue.expand([skill.name]):
        yield Problem("handle", "it leads to no usable tool; its steps must mention at least one @tool")
    if circle := _circle(skill.name, catalogue):
        yield Problem("cycle", f"it leads back to itself: {' -> '.join('@' + name for name in circle)}")
    yield from _examples(skill, catalogue)


def _circle(start: str, catalogue: Catalogue) -> list[str]:
    """The shortest way from a skill back to it over the skills that it mentions; empty if there is none."""
    ways = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        skill = catalogue.skill(way[-1])
        for handle in skill.mentions if skill else ():
            if handle == start:
                return [*way, start]
            if handle not in seen:
                seen.add(handle)
                ways.append([*way, handle])
    return []


def _examples(skill: Skill, catalogue: Catalogue) -> Iterator[Problem]:
    if not skill.examples:
        yield Problem("example", "it has no metadata.examples; the model learns from them when to choose it")
    own = [said.casefold() for said in skill.examples]
    others = {
        said.casefold(): line.handle
        for line in catalogue.menu()
        for said in line.examples
        if line.handle != skill.name
    }
    for said in skill.examples:
        if own.count(said.casefold()) > 1:
            yield Problem("example", f'the example "{said}" is there twice')
        elif said.casefold() in others:
            yield Problem("example", f'the example "{said}" is also one of @{others[said.casefold()]}')
