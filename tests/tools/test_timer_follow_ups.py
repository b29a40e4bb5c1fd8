"""What names the one, after the daemon asked which timer is meant, through the harness over real timers."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Message
from muleteer.harness.events import TurnFinished
from muleteer.harness.turn import Harness
from muleteer.session import LOOKED_UP
from muleteer.settings.sections import Budgets
from tests.harness.scripted import Choose, Fill, ScriptedBrain
from tests.tools.test_timer_messages import Kitchen, kitchen

__all__ = ["kitchen"]


@pytest.mark.parametrize(
    ("order", "reply", "left"),
    [
        ("cancel the timer", "the pasta one", ["laundry", "tea"]),
        ("cancel the timer", "the one for the pasta, please", ["laundry", "tea"]),
        ("cancel the timer", "no, the tea one", ["laundry", "pasta"]),
        ("cancel the timer", "all of them", []),
        ("Lösch den Timer", "den für pasta", ["laundry", "tea"]),
        ("annule le minuteur", "celui pour pasta", ["laundry", "tea"]),
        ("annulla il timer", "quello della pasta", ["laundry", "tea"]),
        ("cancel the timer", "the rice one", ["laundry", "pasta", "tea"]),
    ],
)
async def test_a_bare_reply_names_the_one(kitchen: Kitchen, order: str, reply: str, left: list[str]) -> None:
    await kitchen.three()
    asked = await kitchen.ask(order, action="cancel", when="", label="")
    assert "pasta" in asked
    assert "laundry" in asked
    brain = ScriptedBrain(Choose({"timer": 1.0}), *[Fill({"action": "list"})] * 3)
    history = (Message("user", order), Message("assistant", LOOKED_UP))
    run = Harness(brain, kitchen.catalogue, Budgets()).run(reply, history)
    *_, last = [event async for event in run]
    assert isinstance(last, TurnFinished)
    assert await kitchen.labels() == left
