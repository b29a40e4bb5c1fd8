"""Who is served when several ask: turns, background work, and background work that must wait."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from itertools import compress
from pathlib import Path
from typing import Any

import pytest

from muleteer.engine.lane import Lane
from muleteer.engine.protocol import Choice
from muleteer.errors import EngineBusyError, EngineDiedError
from tests.engine.observing import READY_S, USED, Printed, Running, printing, runner
from tests.engine.scripted_worker import prompt


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return runner(tmp_path)


@pytest.fixture
async def printed() -> AsyncIterator[Printed]:
    with printing() as printed:
        yield printed


class Blockade:
    """One direct request that occupies the engine until it is lifted."""

    def __init__(self, engine: Lane, pipe: Path) -> None:
        os.mkfifo(pipe)
        self.pipe = pipe
        self.call = asyncio.create_task(engine.choose(prompt(f"wait {pipe}"), ["a"]))

    async def lift(self) -> None:
        (await asyncio.to_thread(self.pipe.open, "wb")).close()
        await self.call


Blocking = Callable[[Lane], Awaitable[Blockade]]


@pytest.fixture
def blocking(tmp_path: Path, printed: Printed) -> Blocking:
    async def block(engine: Lane) -> Blockade:
        blockade = Blockade(engine, tmp_path / "pipe")
        await printed.wait_for("waiting")
        return blockade

    return block


async def begun(*calls: Coroutine[Any, Any, object]) -> list[asyncio.Task[object]]:
    """Tasks that have made their first request, in this order."""
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0)
    return tasks


async def turn(lane: Lane, name: str, ended: list[str], levels: int = 3) -> None:
    for level in range(levels):
        await lane.choose(prompt(""), ["a", "b"])
        ended.append(f"{name}{level}")


async def test_the_earlier_turn_goes_on_before_a_later_one_begins(
    running: Running, blocking: Blocking
) -> None:
    async with running() as engine:
        blockade = await blocking(engine)
        ended: list[str] = []
        first, second, third = (engine.lane() for _ in range(3))
        turns = await begun(turn(third, "c", ended), turn(first, "a", ended), turn(second, "b", ended))
        await blockade.lift()
        await asyncio.gather(*turns)
        assert ended == [f"{name}{level}" for name in "abc" for level in range(3)]


async def test_direct_turns_go_before_older_background_ones_between_levels(
    running: Running, blocking: Blocking
) -> None:
    async with running() as engine:
        blockade = await blocking(engine.lane(background=True))
        ended: list[str] = []
        older, younger = engine.lane(background=True), engine.lane()
        turns = await begun(turn(older, "background", ended, 2), turn(younger, "direct", ended, 2))
        await blockade.lift()
        await asyncio.gather(*turns)
        assert ended == ["direct0", "direct1", "background0", "background1"]


async def test_background_work_that_runs_yields_at_its_next_level(
    running: Running, blocking: Blocking
) -> None:
    async with running() as engine:
        lane, ended = engine.lane(background=True), list[str]()
        blockade = await blocking(lane)

        async def go_on() -> None:
            await blockade.call
            await turn(lane, "background", ended, 1)

        turns = await begun(go_on(), turn(engine.lane(), "direct", ended, 2))
        await blockade.lift()
        await asyncio.gather(*turns)
        assert ended == ["direct0", "direct1", "background0"]


async def test_a_turn_that_ended_does_not_hold_up_the_next(running: Running, blocking: Blocking) -> None:
    async with running() as engine, asyncio.timeout(READY_S):
        blockade = await blocking(engine.lane())
        (call,) = await begun(engine.lane().choose(prompt(""), ["a", "b"]))
        await blockade.lift()
        assert await call == Choice((0.5, 0.5), USED)


async def test_ten_turns_at_once_are_all_served_in_order_and_one_more_is_told_when(
    running: Running, blocking: Blocking
) -> None:
    async with running(queue=10) as engine:
        blockade = await blocking(engine)
        ended: list[str] = []
        lanes = [engine.lane() for _ in range(10)]
        turns = await begun(*(turn(lane, f"{number}.", ended, 2) for number, lane in enumerate(lanes)))
        assert engine.status().queued == 10
        with pytest.raises(EngineBusyError, match="10 requests wait already") as caught:
            await engine.lane().count("x")
        assert caught.value.retry_after >= 1
        await blockade.lift()
        await asyncio.gather(*turns)
        assert ended == [f"{number}.{level}" for number in range(10) for level in range(2)]
        assert engine.status().queued == 0


@pytest.mark.parametrize("seed", range(3))
async def test_whoever_stays_is_served_whatever_the_others_do(running: Running, seed: int) -> None:
    dice = random.Random(seed)
    async with running(queue=60) as engine:
        await engine.ready(READY_S)
        calls: list[asyncio.Task[object]] = []
        wanted: list[object] = []
        for number in range(60):
            lane = engine.lane(background=dice.random() < 0.5)
            warms = dice.random() < 0.5
            calls += await begun(lane.warm(prompt("toil 0.01")) if warms else lane.count("x" * number))
            wanted.append(USED if warms else number)
            if dice.random() < 0.3:
                dice.choice(calls).cancel()
            if dice.random() < 0.2:
                engine.defer(dice.choice(["", "the processor is hot"]))
            if dice.random() < 0.3:
                await engine.lane().count("")
        engine.defer("")
        results = await asyncio.gather(*calls, return_exceptions=True)
        stayed = [not call.cancelled() for call in calls]
        assert list(compress(results, stayed)) == list(compress(wanted, stayed))
        assert 30 < sum(stayed) < 60
        assert (engine.status().queued, engine.status().restarts) == (0, 0)
        assert await engine.count("xyz") == 3


# Giving way.


async def test_warming_in_the_background_gives_way_and_is_finished_later(
    running: Running, printed: Printed
) -> None:
    async with running() as engine:
        warming = asyncio.create_task(engine.lane(background=True).warm(prompt("spin once")))
        await printed.wait_for("spinning")
        async with asyncio.timeout(1):
            assert await engine.count("xyz") == 3
        assert await warming == USED
        status = engine.status()
        assert (status.restarts, status.queued) == (0, 0)


async def test_direct_warming_gives_way_to_nobody(running: Running, printed: Printed) -> None:
    async with running() as engine:
        warming = asyncio.create_task(engine.lane().warm(prompt("toil 0.3")))
        assert await engine.lane().count("xyz") == 3
        assert warming.done()
        assert await warming == USED


async def test_a_caller_may_leave_while_its_warming_gives_way(running: Running, printed: Printed) -> None:
    async with running() as engine:
        warming = asyncio.create_task(engine.lane(background=True).warm(prompt("spin")))
        await printed.wait_for("spinning")
        (counting,) = await begun(engine.count("xyz"))
        warming.cancel()
        async with asyncio.timeout(1):
            assert await counting == 3
        assert await engine.count("x") == 1
        assert printed.lines.count("spinning") == 1


async def test_warming_that_does_not_give_way_is_killed(running: Running, printed: Printed) -> None:
    async with running(cancel_timeout=0.1) as engine:
        await engine.warm(prompt(""))
        warming = asyncio.create_task(engine.lane(background=True).warm(prompt("hang")))
        await printed.wait_for("hanging")
        assert await engine.count("xyz") == 3
        with pytest.raises(EngineDiedError, match="did not drop a cancelled request"):
            await warming


# Deferring.


async def test_deferred_background_work_waits_and_direct_work_does_not(running: Running) -> None:
    async with running() as engine:
        engine.defer("the processor is hot")
        (counting,) = await begun(engine.lane(background=True).count("xyz"))
        assert await engine.lane().count("x") == 1
        status = engine.status()
        assert (status.deferred, status.queued, counting.done()) == ("the processor is hot", 1, False)
        assert status.queued_background == 1
        engine.defer("")
        assert await counting == 3
        assert engine.status().deferred == ""


async def test_warming_stops_when_it_is_deferred(running: Running, printed: Printed) -> None:
    async with running() as engine:
        warming = asyncio.create_task(engine.lane(background=True).warm(prompt("spin once")))
        await printed.wait_for("spinning")
        engine.defer("the processor is hot")
        assert await engine.count("xyz") == 3
        assert (engine.status().queued, warming.done()) == (1, False)
        engine.defer("")
        assert await warming == USED


async def test_background_work_that_fills_the_queue_leaves_room_for_direct_work(running: Running) -> None:
    async with running(queue=2) as engine:
        await engine.ready(READY_S)
        engine.defer("the processor is hot")
        waiting = await begun(*(engine.lane(background=True).count("x" * n) for n in (1, 2)))
        with pytest.raises(EngineBusyError, match="2 requests wait already"):
            await engine.lane(background=True).count("x")
        direct = await begun(*(engine.count("x" * n) for n in (3, 4, 5)))
        assert await asyncio.gather(*direct) == [3, 4, 5]
        engine.defer("")
        assert await asyncio.gather(*waiting) == [1, 2]


# The limit.


@pytest.mark.parametrize("moment", ["after a level", "loading", "deferred"])
async def test_the_limit_holds_whatever_the_others_wait_for(running: Running, moment: str) -> None:
    async with running(queue=2) as engine:
        if moment != "loading":
            await engine.ready(READY_S)
        lane = engine.lane()
        if moment == "after a level":
            await lane.choose(prompt(""), ["a", "b"])
        elif moment == "deferred":
            engine.defer("the processor is hot")
        calls = await begun(*(engine.lane(moment == "deferred").count("x" * n) for n in range(30)))
        assert engine.status().queued == 2
        if moment == "after a level":
            assert await lane.choose(prompt(""), ["a", "b"]) == Choice((0.5, 0.5), USED)
        engine.defer("")
        first, second, *refused = await asyncio.gather(*calls, return_exceptions=True)
        assert (first, second) == (0, 1)
        assert {type(error) for error in refused} == {EngineBusyError}
