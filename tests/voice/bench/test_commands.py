"""The battery of spoken commands is what it says it is."""

from __future__ import annotations

import re

import pytest

from muleteer.evaluate.batteries.shipped import catalogue
from muleteer.evaluate.batteries.sweep import read_routing
from muleteer.voice.bench.commands import LANGUAGES, commands, house
from muleteer.voice.bench.words import words


@pytest.mark.parametrize("language", LANGUAGES)
def test_forty_commands_of_tools_that_there_are(language: str) -> None:
    found = commands(language)
    assert len({whole.id for whole in found}) == len({whole.message for whole in found}) == 40
    tools = catalogue()[1].tools
    for whole in found:
        assert whole.must or whole.must_any
        assert set(whole.must + whole.must_any + whole.must_not) <= set(tools)
        for name, pattern in whole.arguments:
            assert name in whole.must
            re.compile(pattern)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_tool_that_must_be_called_finds_something(language: str) -> None:
    there = house()
    for whole in commands(language):
        assert set(whole.must + whole.must_any) <= set(there.results)


def test_names_are_more_than_those_that_are_said() -> None:
    for language, names in house().names.items():
        said = " ".join(whole.message.casefold() for whole in commands(language))
        unsaid = [name for name in names if name.casefold() not in said]
        assert len(unsaid) >= 10, language


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_tuned_by_what_measures(language: str) -> None:
    skills, toolbox = catalogue()
    examples = [example for tool in toolbox.tools.values() for example in tool.examples]
    examples += [example for skill in skills.skills.values() for example in skill.examples]
    known = {
        tuple(words(each)) for each in [*examples, *(message for message, _ in read_routing(None, "all"))]
    }
    assert len(known) > 300
    assert not [whole.message for whole in commands(language) if tuple(words(whole.message)) in known]
