"""What is kept of turns: every step with its times, nothing of what was said, and not for ever."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from muleteer.errors import UnknownTurnError
from muleteer.gateway.traces import MOST_TURNS, Traces
from muleteer.harness.events import (
    CallFinished,
    CallStarted,
    Event,
    LevelFinished,
    LevelUse,
    Planned,
    TextDelta,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)

LEVEL = LevelUse("planner", 100, 90, 10, 1, 12.5)


async def turn(id: str, *, fails: bool = False, ends: bool = True) -> AsyncGenerator[Event, None]:
    yield TurnStarted(id)
    yield LevelFinished(LEVEL)
    yield Planned(("current-time",), 0.9, 1)
    yield CallStarted("current_time", {"place": "secret"})
    yield CallFinished("current_time", "ok", "It is secret.", 3.0)
    yield TextDelta("It is secret.")
    if fails:
        yield TurnFailed(id, "engine", "It broke.", 503, (LEVEL,))
    elif ends:
        yield TurnFinished(id, "It is secret.", ("current-time",), (), (LEVEL,), 20.0)


async def watch(traces: Traces, events: AsyncGenerator[Event, None], skill: str = "") -> int:
    return len([event async for event in traces.watched(events, skill)])


async def test_steps_are_kept_and_nothing_that_was_said() -> None:
    traces = Traces()
    assert await watch(traces, turn("abc1"), "daily-brief") == 7
    kept = traces.get("abc").as_dict()
    assert "secret" not in str(kept)
    assert (kept["skill"], kept["outcome"]) == ("daily-brief", "finished")
    steps = kept["steps"]
    assert isinstance(steps, list)
    assert [step["step"] for step in steps] == ["level", "plan", "call", "result"]
    assert steps[0] | {"at": 0} == {
        "at": 0,
        "step": "level",
        "name": "planner",
        "prompt": 100,
        "reused": 90,
        "decoded": 10,
        "generated": 1,
        "ms": 12.5,
    }


async def test_a_failure_and_a_client_that_left_are_told_apart() -> None:
    traces = Traces()
    await watch(traces, turn("f1", fails=True))
    await watch(traces, turn("c1", ends=False))
    assert traces.get("f1").outcome == "failed (engine)"
    assert traces.get("c1").outcome == "cancelled"


async def test_the_newest_are_kept_and_found_by_a_beginning_that_one_has() -> None:
    traces = Traces()
    for number in range(MOST_TURNS + 1):
        await watch(traces, turn(f"t{number:03}"))
    assert traces.get("").turn == f"t{MOST_TURNS:03}"
    with pytest.raises(UnknownTurnError, match="None of the last turns"):
        traces.get("t000")
    with pytest.raises(UnknownTurnError, match="Several turns"):
        traces.get("t00")


def test_before_any_turn_it_says_how_to_have_one() -> None:
    with pytest.raises(UnknownTurnError, match=r"No turn has run since the daemon started; `muleteer ask"):
        Traces().get("")
