"""What is wrong with a skill beside its form."""

from __future__ import annotations

from pathlib import Path

from muleteer.catalogue.lint import lint, together
from muleteer.skills import Catalogue, Skill
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox


@tool(effect="read", examples=("what time is it",))
def clock() -> Result:
    """Tell the time."""
    return Result.ok("noon")


def skill(name: str, *mentions: str, examples: tuple[str, ...] = ("say when",)) -> Skill:
    return Skill(name, "About it.", "Steps.", examples, mentions, "", None, Path(name) / "SKILL.md")


def problems(*skills: Skill, disabled: str = "") -> list[str]:
    """Those of the first skill, as kind and sentence."""
    toolbox = Toolbox.of([clock])
    if disabled:
        toolbox.disabled[disabled] = "for a reason"
    whole = together(Catalogue({}, toolbox), {each.name: each for each in skills})
    return [f"{each.kind}: {each.text}" for each in lint(skills[0], whole)]


def test_a_sound_skill_has_no_problems() -> None:
    assert problems(skill("hours", "clock")) == []


def test_what_is_not_there_is_named_with_what_is_near() -> None:
    assert problems(skill("hours", "clock", "clok")) == [
        "handle: it mentions @clok, which does not exist; near: @clock"
    ]
    assert problems(skill("hours", "clock", "lamp"), disabled="lamp") == [
        "handle: it mentions @lamp, which is disabled"
    ]


def test_what_leads_to_no_tool_says_so() -> None:
    assert problems(skill("hours")) == [
        "handle: it leads to no usable tool; its steps must mention at least one @tool"
    ]


def test_a_circle_is_shown_from_end_to_end() -> None:
    first, second = skill("one", "two", "clock"), skill("two", "three", examples=("b",))
    assert problems(first, second, skill("three", "one", examples=("c",))) == [
        "cycle: it leads back to itself: @one -> @two -> @three -> @one"
    ]
    assert problems(skill("one", "one", "clock")) == ["cycle: it leads back to itself: @one -> @one"]


def test_examples_are_there_once_and_here_alone() -> None:
    assert problems(skill("hours", "clock", examples=()))[0].startswith(
        "example: it has no metadata.examples"
    )
    assert problems(skill("hours", "clock", examples=("What time is it", "now", "Now"))) == [
        'example: the example "What time is it" is also one of @clock',
        'example: the example "now" is there twice',
        'example: the example "Now" is there twice',
    ]


def test_the_name_of_a_tool_is_taken() -> None:
    assert "handle: @clock is the name of a tool already" in problems(skill("clock", "clock"))


def test_the_catalogue_in_use_stays_as_it_is() -> None:
    catalogue = Catalogue({}, Toolbox.of([clock]))
    together(catalogue, {"hours": skill("hours", "clock")})
    assert catalogue.skills == {}
