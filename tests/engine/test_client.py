"""Calls to the engine, and its stop: a real process around a scripted decoder."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
import uvloop

from muleteer.engine.client import Engine
from muleteer.engine.protocol import Choice, LoadSettings, Text
from muleteer.errors import EngineBusyError, EngineDiedError, EngineError, RequestError, TooLongError
from tests.engine.observing import COMMAND, READY_S, USED, Printed, Running, alive, printing, runner, score
from tests.engine.scripted_worker import prompt


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return runner(tmp_path)


@pytest.fixture
async def printed() -> AsyncIterator[Printed]:
    with printing() as printed:
        yield printed


# Calls.


async def test_every_call_gets_its_answer_and_the_ledger_adds_up(running: Running) -> None:
    async with running() as engine:
        properties = await engine.ready(READY_S)
        assert (properties.name, properties.extra_buffers) == ("any", True)
        assert await engine.count("four") == 4
        assert await engine.warm(prompt("")) == USED
        assert await engine.choose(prompt(""), ["a", "b"]) == Choice((0.5, 0.5), USED)
        assert await engine.fill(prompt(""), {}, limit=9) == Text("{}", "stop", USED)
        parts = [part async for part in engine.write(prompt("say a b"), limit=9)]
        assert parts == ["a", "b", Text("a b", "stop", USED)]
        status = engine.status()
        assert (status.state, status.queued, status.restarts) == ("ready", 0, 0)
        assert (status.held.resident_tokens, status.totals.decoded) == (8, 8)
        assert alive(status.pid)


async def test_calls_made_while_the_model_loads_wait_and_then_run_in_order(
    running: Running, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "gate")
    async with running("gate") as engine:
        ended: list[int] = []

        async def call(number: int) -> None:
            await engine.count("x")
            ended.append(number)

        async with asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(call(number))
            waiting = group.create_task(engine.ready(READY_S))
            opened = await asyncio.to_thread((tmp_path / "gate").open, "wb")  # when the worker reads it
            with opened:
                assert (engine.status().queued, ended, waiting.done()) == (3, [], False)
        assert ended == [0, 1, 2]


async def test_ten_clients_at_once_are_all_answered_in_the_order_they_came(running: Running) -> None:
    async with running(queue=10) as engine:
        ended: list[int] = []

        async def client(number: int) -> None:
            text = [part async for part in engine.write(prompt(f"say {number}"), limit=9)][-1]
            assert isinstance(text, Text)
            ended.append(int(text.text))

        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(client(number))
        assert ended == list(range(10))


async def test_a_full_queue_refuses_with_a_hint_and_loses_nothing(running: Running, printed: Printed) -> None:
    async with running(queue=2) as engine:
        spinning = asyncio.create_task(engine.warm(prompt("spin")))
        await printed.wait_for("spinning")
        waiting = [asyncio.create_task(engine.count("x" * n)) for n in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(EngineBusyError, match="2 requests wait already") as caught:
            await engine.count("refused")
        assert 1 <= caught.value.retry_after <= 60
        spinning.cancel()
        assert await asyncio.gather(*waiting) == [1, 2]


async def test_errors_keep_their_class_and_the_next_call_works(running: Running, printed: Printed) -> None:
    async with running() as engine:
        with pytest.raises(TooLongError, match="9 tokens; 8 are allowed"):
            await engine.choose(prompt("refuse"), ["a"])
        with pytest.raises(EngineError, match="ValueError: the script says so"):
            await engine.choose(prompt("raise"), ["a"])
        await printed.wait_for("Traceback")
        with pytest.raises(RequestError, match="plain Unicode"):
            await engine.count("\ud83d")
        with pytest.raises(TooLongError, match="5,000,0"):
            await engine.count("x" * 5_000_000)
        assert await engine.count("x") == 1
        assert engine.status().restarts == 0


async def test_what_the_process_logs_is_logged_again_at_its_level_and_once(
    running: Running, printed: Printed, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as engine:
        with caplog.at_level("INFO", "muleteer.engine"), pytest.raises(EngineError):
            await engine.choose(prompt("raise"), ["a"])
        await printed.wait_for("failed unexpectedly.")
        (record,) = [each for each in caplog.records if "failed unexpectedly." in each.getMessage()]
        assert (record.levelname, record.getMessage()[:8]) == ("ERROR", "Request ")


async def test_what_the_process_prints_reaches_the_log_in_bounded_lines(
    running: Running, printed: Printed
) -> None:
    async with running() as engine:
        await engine.warm(prompt("print " + "x" * 20_000))
        await engine.warm(prompt("print done"))
        await printed.wait_for("done")
        assert max(len(line) for line in printed.lines) == 500


async def test_with_no_room_to_wait_an_idle_engine_still_takes_a_call(
    running: Running, printed: Printed
) -> None:
    async with running(queue=0) as engine:
        await engine.ready(READY_S)
        spinning = asyncio.create_task(engine.warm(prompt("spin")))
        await printed.wait_for("spinning")
        with pytest.raises(EngineBusyError):
            await engine.count("x")
        spinning.cancel()


async def test_another_process_is_noticed_as_soon_as_it_is_ready(running: Running) -> None:
    async with running() as engine, asyncio.timeout(READY_S):
        first = await engine.replaced(None)
        assert first == engine.status().pid
        waiting = asyncio.create_task(engine.replaced(first))
        os.kill(first, signal.SIGKILL)
        second = await waiting
        assert second != first
        assert (engine.status().pid, engine.status().state) == (second, "ready")


# Cancelling.


async def test_a_cancelled_prefill_frees_the_engine_within_a_second(
    running: Running, printed: Printed
) -> None:
    async with running() as engine:
        task = asyncio.create_task(engine.choose(prompt("spin"), ["a"]))
        await printed.wait_for("spinning")
        pid = engine.status().pid
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(1):
            assert await engine.count("xyz") == 3
        assert engine.status().pid == pid


async def test_a_closed_stream_frees_the_engine_within_a_second(running: Running) -> None:
    async with running() as engine:
        async with aclosing(engine.write(prompt("start spin"), limit=9)) as parts:
            assert await anext(parts) == "start"
        async with asyncio.timeout(1):
            assert await engine.count("xyz") == 3
        assert engine.status().restarts == 0


async def test_a_call_cancelled_in_the_queue_never_reaches_the_engine(
    running: Running, printed: Printed
) -> None:
    async with running() as engine:
        first = asyncio.create_task(engine.warm(prompt("spin")))
        await printed.wait_for("spinning")
        second = asyncio.create_task(engine.warm(prompt("print second")))
        third = asyncio.create_task(engine.warm(prompt("print third")))
        await asyncio.sleep(0)
        second.cancel()
        first.cancel()
        await third
        await printed.wait_for("third")
        assert "second" not in printed.lines


async def test_an_engine_that_does_not_drop_a_cancelled_call_is_killed(running: Running) -> None:
    async with running(cancel_timeout=0.1) as engine:
        async with aclosing(engine.write(prompt("start hang"), limit=9)) as parts:
            assert await anext(parts) == "start"
        assert await engine.count("xyz") == 3
        assert engine.status().restarts == 1
        assert "did not drop a cancelled request within 0.1 seconds" in engine.status().reason


async def test_a_reader_that_dawdles_does_not_hold_the_engine(running: Running) -> None:
    async with running() as engine, aclosing(engine.write(prompt("say a b c"), limit=9)) as parts:
        assert await anext(parts) == "a"
        assert await engine.count("xyz") == 3
        assert [part async for part in parts] == ["b", "c", Text("a b c", "stop", USED)]


async def test_late_and_foreign_answers_are_dropped(running: Running) -> None:
    async with running() as engine:
        assert await engine.warm(prompt("answer 999")) == USED
        assert await engine.count("xyz") == 3
        assert engine.status().restarts == 0


# Stopping.


async def test_it_does_not_run_before_start_and_after_stop(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "any", LoadSettings(), command=COMMAND)
    await engine.stop()
    with pytest.raises(EngineError, match="not running"):
        await engine.count("x")
    await engine.start()
    await engine.start()
    await engine.ready(READY_S)
    pid = engine.status().pid
    await engine.stop()
    await engine.stop()
    assert not alive(pid)
    with pytest.raises(EngineError, match="not running"):
        await engine.ready(READY_S)
    await engine.start()
    assert await engine.count("x") == 1
    await engine.stop()


async def test_stop_ends_what_runs_and_what_waits(running: Running, printed: Printed) -> None:
    async with running() as engine:
        calls = [asyncio.create_task(engine.warm(prompt("spin"))), asyncio.create_task(engine.count("x"))]
        await printed.wait_for("spinning")
        pid = engine.status().pid
        async with asyncio.timeout(2):
            await engine.stop()
        for call in calls:
            with pytest.raises(EngineError, match="not running"):
                await call
        assert not alive(pid)


async def test_stop_kills_a_process_that_does_not_listen(
    running: Running, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.engine.child.EXIT_S", 0.2)
    async with running("endless") as engine:
        await printed.wait_for("The engine is loading")
        pid = engine.status().pid
        assert alive(pid)
        await engine.stop()
        assert not alive(pid)


async def test_only_the_daemon_and_a_lack_of_memory_end_the_process(
    running: Running,
) -> None:
    async with running() as engine:
        await engine.ready(READY_S)
        assert score(engine.status().pid) == 500
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(engine.status().pid or 0, number)
            assert await engine.count("xyz") == 3
        assert engine.status().restarts == 0


def test_it_works_on_uvloop(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = Engine(tmp_path / "any", LoadSettings(), first_pause=0.01, command=COMMAND)
        await engine.start()
        try:
            await engine.warm(prompt(""))
            with pytest.raises(EngineDiedError, match="SIGKILL"):
                await engine.warm(prompt(f"crash {signal.SIGKILL:d}"))
            async with aclosing(engine.write(prompt("start spin"), limit=9)) as parts:
                assert await anext(parts) == "start"
            async with asyncio.timeout(1):
                assert await engine.count("xyz") == 3
        finally:
            await engine.stop()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scenario())
