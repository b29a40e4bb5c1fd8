from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from muleteer.evaluate import material
from muleteer.evaluate.hops import Seen
from muleteer.evaluate.material import Material


@pytest.fixture
def shipped(tmp_path: Path) -> Material:
    return Material.shipped(tmp_path)


def test_a_conversation_takes_every_level_with_the_harness_own_prompts(shipped: Material) -> None:
    opening = shipped.follow("If it is cold, turn on the heater.")
    call = json.dumps({"tool": "sensor", "instruction": "the temperature"})
    grown = shipped.follow_on(opening, call)
    steps = [shipped.plan("If it is cold, turn on the heater."), opening, shipped.agent(call), grown]
    assert [step.level for step in steps] == ["L1", "L2", "L3", "L2"]
    assert grown.prompt.messages[: len(opening.prompt.messages)] == opening.prompt.messages
    assert "@home-control" in steps[0].options
    assert "@reply" in steps[0].options
    assert [tool.name for tool in steps[2].prompt.tools] == ["sensor"]


def test_the_conversations_and_calls_name_only_what_is_shipped(shipped: Material) -> None:
    assert shipped.catalogue.skill(material.SKILL)
    assert {tool for tool, _ in material.CALLS} <= set(shipped.catalogue.toolbox.tools)
    assert len(material.NEXT) == len(material.REQUESTS) > 5  # one for each sample, and one before them
    assert shipped.follow("").prompt in shipped.constants(), "a turn of it has a follower"


def test_fresh_prompts_differ_from_their_first_words_on() -> None:
    texts = [material.fresh(number, 50).messages[-1].content for number in range(1000)]
    assert len({text[:20] for text in texts}) == 1000
    assert len(texts[0].split()) == pytest.approx(60, abs=5)
    assert material.fresh(3, 50) == material.fresh(3, 50)


def test_a_prefix_that_was_read_before_and_not_reused_is_counted() -> None:
    seen = Seen([], Counter())
    seen.read("L1", [1, 2, 3, 4], reused=0)
    seen.read("L1", [1, 2, 3, 9], reused=3)
    seen.read("L1", [1, 2, 3, 4], reused=3)  # the last token gives the logits
    assert seen.again.total() == 0
    seen.read("L2", [1, 2, 3, 9, 5], reused=1)
    assert seen.again["L2"] == 3


def test_a_new_conversation_knows_the_constant_prompts_only() -> None:
    seen = Seen([], Counter())
    seen.read("warming", [1, 2], reused=0)
    seen.begin()
    seen.read("L1", [1, 2, 3, 4], reused=2)
    seen.begin()
    seen.read("L1", [1, 2, 3, 5], reused=2)
    assert seen.again.total() == 0
    seen.begin()
    seen.read("L1", [1, 2, 6], reused=0)
    assert seen.again["L1"] == 2
