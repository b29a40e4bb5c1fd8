"""What is shipped loads whole, in few words, and says when to use it."""

from __future__ import annotations

from muleteer.paths import share_dir
from muleteer.skills import load_catalogue
from muleteer.toolbox import Toolbox

WORDS = 15  # of an example: the first of each handle are exchanges in the planner's prompt
MOST = 60  # examples of a handle: all are learned from at the start, a few hundred in less than a second


def test_every_skill_and_tool_loads(toolbox: Toolbox) -> None:
    catalogue = load_catalogue([share_dir() / "skills"], toolbox)
    assert catalogue.disabled == {}
    handles = [line.handle for line in catalogue.menu()]
    skills = ["check-schedule", "daily-brief", "device-health", "fetch-file", "home-control", "search-info"]
    assert handles[:6] == skills
    tools = ["calculator", "current-time", "device-info", "http-get", "remember", "sensor", "switch", "timer"]
    assert handles[6:] == tools
    searched = [tool.name for tool in catalogue.expand(["search-info"])]
    assert searched == ["check_notebook", "find_file", "grep_memory"]


def test_examples_are_short_and_each_belongs_to_one_handle(toolbox: Toolbox) -> None:
    catalogue = load_catalogue([share_dir() / "skills"], toolbox)
    examples = [example for line in catalogue.menu() for example in line.examples]
    assert all(3 <= len(line.examples) <= MOST for line in catalogue.menu())
    assert all(len(example.split()) < WORDS for example in examples)
    assert len(set(examples)) == len(examples)


def test_every_tool_says_when_to_use_it(toolbox: Toolbox) -> None:
    assert all(" Use it " in tool.description for tool in toolbox.tools.values())
