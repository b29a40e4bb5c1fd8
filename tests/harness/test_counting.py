"""Static prompts are counted once, and forgotten when nothing needs them any more."""

from __future__ import annotations

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.harness.counting import Counted
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House
from tests.harness.scripted import ScriptedBrain


class Asked(ScriptedBrain):
    """Remembers what it was asked to count."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: list[Conversation | str] = []

    async def count(self, prompt: Conversation | str) -> int:
        self.counted.append(prompt)
        return await super().count(prompt)


async def test_equal_prompts_are_asked_for_once() -> None:
    brain = Asked()
    first = Counted(brain, {})
    spec = ToolSpec("clock", "Tell the time.", {"type": "object"})
    prompts = ("two words", Conversation((Message("system", "one"),)), Conversation((), (spec,)), "\ud800")
    numbers = [await first.count(prompt) for prompt in prompts for _ in range(2)]
    assert numbers == [2, 2, 1, 1, 2, 2, 1, 1]
    assert brain.counted == list(prompts)
    second = Counted(brain, first.known)
    assert await second.count("two words") == 2
    assert len(brain.counted) == len(prompts)
    assert len(second.known) == 1, "what nothing asks for is forgotten"


async def test_a_second_measuring_asks_for_nothing(house: House) -> None:
    brain = Asked()
    harness = Harness(brain, house.catalogue, Budgets())
    tokens = await harness.measure()
    asked = len(brain.counted)
    assert asked > 10
    assert await harness.measure() == tokens
    assert len(brain.counted) == asked
