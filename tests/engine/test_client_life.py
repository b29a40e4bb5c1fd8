"""One load for many calls, unloading when nobody calls, and threads that outlive a process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.engine.protocol import Held
from muleteer.errors import EngineError
from tests.engine.observing import READY_S, USED, Printed, Running, alive, printing, runner
from tests.engine.scripted_worker import prompt


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return runner(tmp_path)


@pytest.fixture
async def printed() -> AsyncIterator[Printed]:
    with printing() as printed:
        yield printed


async def test_many_calls_are_one_load(running: Running, printed: Printed) -> None:
    async with running() as engine:
        await asyncio.gather(engine.count("x"), engine.lane().warm(prompt("")), engine.ready(READY_S))
        pid = engine.status().pid
        await engine.lane().count("x")
        assert engine.status().pid == pid
        assert printed.lines.count("The engine is loading.") == 1


# Unloading.


async def test_an_unused_model_is_unloaded_and_the_next_call_loads_it(
    running: Running, printed: Printed
) -> None:
    async with running(idle_unload=0.1) as engine:
        await engine.warm(prompt(""))
        pid, loaded = engine.status().pid, engine.status().properties
        await printed.wait_for("The engine is unloaded")
        status = engine.status()
        assert (status.state, status.pid, status.properties) == ("unloaded", None, loaded)
        assert (status.restarts, status.reason, status.held) == (0, "", Held())
        assert status.totals == USED
        assert "Nobody has used the model for 0.1 seconds: it is unloaded." in printed.lines
        assert await engine.lane().count("xyz") == 3
        assert not alive(pid)
        assert (engine.status().restarts, engine.status().reason) == (0, "")


async def test_what_is_on_disk_is_still_there_when_the_model_is_not(
    running: Running, printed: Printed
) -> None:
    async with running(idle_unload=0.1) as engine:
        await engine.warm(prompt("keep"))
        assert engine.status().held == Held(2, disk=7, disk_prefixes=1)
        await printed.wait_for("The engine is unloaded")
        assert engine.status().held == Held(disk=7, disk_prefixes=1)


async def test_waiting_for_an_unloaded_model_loads_it(running: Running, printed: Printed) -> None:
    async with running(idle_unload=0.1) as engine, asyncio.timeout(READY_S):
        pid = await engine.replaced(None)
        await printed.wait_for("The engine is unloaded")
        another = asyncio.create_task(engine.replaced(pid))
        await engine.ready(READY_S)
        assert await another != pid


async def test_background_work_loads_it_and_warming_does_not(running: Running, printed: Printed) -> None:
    async with running(idle_unload=0.1) as engine:
        await printed.wait_for("The engine is unloaded")
        lane = engine.lane(background=True)
        with pytest.raises(EngineError, match="nothing to prepare until a request loads it"):
            await lane.warm(prompt(""))
        assert engine.status().state == "unloaded"
        assert await lane.count("xyz") == 3


async def test_warming_is_no_use_of_the_model(
    running: Running, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.engine.client.BETWEEN_WARMS_S", 0.0)
    async with running(idle_unload=1.0) as engine:
        await engine.warm(prompt(""))
        await engine.lane(background=True).warm(prompt("toil 1.1"))
        ended = asyncio.get_running_loop().time()
        await printed.wait_for("The engine is unloaded")
        assert asyncio.get_running_loop().time() - ended < 0.9


async def test_a_call_that_takes_long_is_not_cut_short(running: Running) -> None:
    async with running(idle_unload=0.1) as engine:
        assert await engine.warm(prompt("toil 0.5")) == USED
        assert engine.status().state == "ready"


async def test_what_is_deferred_is_no_use_of_the_model(running: Running, printed: Printed) -> None:
    async with running(idle_unload=0.1) as engine, asyncio.timeout(READY_S):
        await engine.ready(READY_S)
        engine.defer("the processor is hot")
        warming = asyncio.create_task(engine.lane(background=True).warm(prompt("")))
        counting = asyncio.create_task(engine.lane(background=True).count("xyz"))
        await printed.wait_for("The engine is unloaded")
        with pytest.raises(EngineError, match="nothing to prepare until a request loads it"):
            await warming
        later = asyncio.create_task(engine.lane(background=True).count("x"))
        await asyncio.sleep(0)
        assert (engine.status().state, engine.status().queued) == ("unloaded", 2)
        engine.defer("")
        assert (await counting, await later) == (3, 1)


async def test_a_process_that_does_not_leave_when_unloaded_is_killed(
    running: Running, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.engine.child.EXIT_S", 0.2)
    async with running(idle_unload=0.1) as engine:
        await engine.warm(prompt("linger"))
        pid = engine.status().pid
        await printed.wait_for("The engine is unloaded")
        assert await engine.count("xyz") == 3
        assert not alive(pid)
        assert (engine.status().restarts, engine.status().reason) == (0, "")


async def test_an_unloaded_engine_stops_and_starts(running: Running, printed: Printed) -> None:
    async with running(idle_unload=0.1) as engine:
        await printed.wait_for("The engine is unloaded")
        await engine.stop()
        with pytest.raises(EngineError, match="not running"):
            await engine.count("x")
        await engine.start()
        assert await engine.count("x") == 1


# Threads.


async def test_the_number_of_threads_holds_from_the_next_call_and_in_the_next_process(
    running: Running, printed: Printed
) -> None:
    async with running() as engine:
        engine.set_threads(7)
        properties = await engine.ready(READY_S)
        await engine.warm(prompt("threads"))
        await printed.wait_for("7 threads")
        running_call = asyncio.create_task(engine.warm(prompt("toil 0.1")))
        await asyncio.sleep(0)
        engine.set_threads(2)
        await running_call
        await engine.warm(prompt("threads"))
        await printed.wait_for("2 threads")
        assert (engine.status().threads, properties.threads) == (2, 1)
        os.kill(engine.status().pid or 0, signal.SIGKILL)
        await printed.wait_for("being started again")
        printed.lines.clear()
        await engine.warm(prompt("threads"))
        await printed.wait_for("2 threads")


async def test_threads_are_those_of_the_load_until_they_are_set(running: Running) -> None:
    async with running() as engine:
        assert engine.status().threads == 0
        properties = await engine.ready(READY_S)
        assert engine.status().threads == properties.threads == 1
