from __future__ import annotations

import pytest

from muleteer.engine import models
from muleteer.engine.protocol import Message
from muleteer.evaluate.batteries.bfcl import Question
from muleteer.evaluate.batteries.calling import pooled
from muleteer.evaluate.batteries.growth import growth, markdown, shared
from muleteer.evaluate.rig import Tokens
from muleteer.harness.staged import SCORED, WHOLE


def question(number: int, name: str) -> Question:
    place = {"type": "string", "description": f"the place that {name} is asked about"}
    function = {
        "name": name,
        "description": f"Tell the {name} in a place.",
        "parameters": {"type": "dict", "properties": {"place": place}, "required": ["place"]},
    }
    said = (Message("user", f"What is the {name} in Oslo?"),)
    return Question(str(number), "multiple", said, (function,), ({name: {"place": ["Oslo"]}},))


@pytest.mark.model("tiny")
async def test_a_call_costs_the_same_however_many_tools_there_are_and_a_flat_prompt_does_not() -> None:
    words = [f"{one}{other}" for one in ("weather", "traffic", "tide", "price", "name") for other in "abcdef"]
    questions = [question(number, word) for number, word in enumerate(words)]
    others = [tool for each in questions for tool in each.tools]
    with Tokens(models.resolve("tiny")) as tokens:
        rows = [
            await growth(tokens, *pooled(questions[:4], size, others), size)
            for size in (SCORED, WHOLE, WHOLE + 6)
        ]
    few, whole, many = rows
    assert all(row.found == 1.0 for row in rows)
    assert many.cold < 1.1 * few.cold  # eight lines, whatever is installed
    assert few.warm < few.cold
    assert whole.warm < 1.1 * few.warm  # the menu is constant up to WHOLE
    assert many.flat_cold > 2 * few.flat_cold
    assert f"| {WHOLE + 6} | 4 | 100.0 % |" in markdown(rows)


def test_what_two_prompts_begin_with_alike_is_decoded_once() -> None:
    assert shared([1, 2, 3], [1, 2, 4, 5]) == 2
    assert shared([1, 2], [1, 2, 3]) == 2
    assert shared([1], []) == shared([1], [2]) == 0
