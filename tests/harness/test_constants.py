"""Which static prompts there are, and which of them a turn needed."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Use
from muleteer.harness.constants import used
from muleteer.harness.events import LevelUse, TurnFailed, TurnFinished


def levels(*names: str) -> tuple[LevelUse, ...]:
    return tuple(LevelUse.of(name, Use(2, 1, 1)) for name in names)


@pytest.mark.parametrize(
    ("handles", "ran", "expected"),
    [
        ((), ["planner", "reply", "reply"], ["reply"]),
        (("clock",), ["planner", "agent:clock"], ["agent:clock"]),
        (
            ("look-up",),
            ["planner", "follower", "agent:clock", "follower", "answer"],
            ["agent:clock", "answer", "follower:look-up"],
        ),
        (("look-up", "clock"), ["planner", "follower", "agent:clock"], ["agent:clock"]),
    ],
)
def test_a_turn_needed_each_prompt_once(
    handles: tuple[str, ...], ran: list[str], expected: list[str]
) -> None:
    assert used(TurnFinished("t1", "x", handles, (), levels(*ran), 1.0)) == expected


def test_a_failed_turn_needed_prompts_too() -> None:
    ran = levels("planner", "follower", "agent:clock")
    assert used(TurnFailed("t1", "engine", "It failed.", 503, ran)) == ["agent:clock"]
