"""The engine as the daemon uses it, with a real process around a scripted decoder."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvloop

from muleteer.engine.client import Engine
from muleteer.engine.protocol import Choice, LoadSettings, Text, Use
from muleteer.errors import (
    EngineBusyError,
    EngineDiedError,
    EngineError,
    ModelError,
    RequestError,
    TooLongError,
)
from tests.engine import scripted_worker
from tests.engine.scripted_worker import prompt

COMMAND = (sys.executable, scripted_worker.__file__)
USED = Use(prompt=2, decoded=2, ms=1.0)
READY_S = 20.0

Running = Callable[..., AbstractAsyncContextManager[Engine]]


@pytest.fixture
def running(tmp_path: Path) -> Running:
    """A started engine whose "model" is a file name that the scripted worker obeys."""

    @asynccontextmanager
    async def run(model: str = "any", **options: Any) -> AsyncIterator[Engine]:
        defaults: dict[str, Any] = {"first_pause": 0.01, "load_timeout": READY_S, "command": COMMAND}
        engine = Engine(tmp_path / model, LoadSettings(), **(defaults | options))
        await engine.start()
        try:
            yield engine
        finally:
            await engine.stop()
            assert engine.status().state == "stopped"
            assert engine.status().pid is None

    return run


class Printed(logging.Handler):
    """Waits for lines that the engine process printed."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._more = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self._more.set()

    async def wait_for(self, text: str) -> None:
        async with asyncio.timeout(READY_S):
            while not any(text in line for line in self.lines):
                self._more.clear()
                await self._more.wait()


@pytest.fixture
async def printed() -> AsyncIterator[Printed]:
    handler, log = Printed(), logging.getLogger("muleteer.engine")
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield handler
    log.setLevel(before)
    log.removeHandler(handler)


def alive(pid: int | None) -> bool:
    return pid is not None and Path(f"/proc/{pid}").exists()


def score(pid: int | None) -> int:
    """How gladly the kernel ends a process when memory runs out."""
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


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
        assert (status.resident_tokens, status.totals.decoded) == (8, 8)
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


# Failing.


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (f"crash {signal.SIGSEGV:d}", r"killed by signal 11 \(SIGSEGV: a memory fault in native code\)"),
        (f"crash {signal.SIGKILL:d}", r"killed by signal 9 \(SIGKILL: .*memory"),
        (
            f"crash {signal.SIGILL:d}",
            r"killed by signal 4 \(SIGILL: an instruction that this processor lacks",
        ),
        ("exit 3", "ended by itself with exit code 3 after saying: so long"),
        ("garbage", "said something that the daemon does not understand"),
        ("answer 2", "gave the wrong kind of answer"),
    ],
)
async def test_a_death_in_the_middle_of_a_call_is_told_and_the_next_call_works(
    running: Running, script: str, words: str
) -> None:
    async with running() as engine:
        await engine.warm(prompt(""))
        first = engine.status()
        with pytest.raises(EngineError, match=words) as caught:
            await engine.choose(prompt(script), ["a"])
        assert "being started again" in str(caught.value)
        assert str(caught.value).endswith("in a moment.")
        assert await engine.count("xyz") == 3
        status = engine.status()
        assert status.restarts == 1
        assert status.pid != first.pid
        assert not alive(first.pid)
        assert status.reason
        assert status.totals.decoded >= first.totals.decoded
        assert status.resident_tokens == 0
        assert status.properties
        assert status.properties.extra_buffers


async def test_calls_that_wait_behind_a_death_are_served_by_the_next_process(
    running: Running, printed: Printed
) -> None:
    async with running() as engine:
        await engine.warm(prompt(""))
        doomed = asyncio.create_task(engine.warm(prompt("hang")))
        waiting = [asyncio.create_task(engine.count("x" * n)) for n in range(3)]
        await asyncio.sleep(0)
        os.kill(engine.status().pid or 0, signal.SIGKILL)
        with pytest.raises(EngineDiedError, match="in the middle of this request"):
            await doomed
        assert await asyncio.gather(*waiting) == [0, 1, 2]


async def test_a_death_between_calls_is_noticed_and_mended(running: Running, printed: Printed) -> None:
    async with running() as engine:
        await engine.ready(READY_S)
        os.kill(engine.status().pid or 0, signal.SIGKILL)
        await printed.wait_for("being started again")
        await engine.ready(READY_S)
        assert await engine.count("xyz") == 3
        assert engine.status().restarts == 1


async def test_a_hang_is_ended_and_named(running: Running) -> None:
    async with running(silence=0.2) as engine:
        await engine.warm(prompt(""))
        with pytest.raises(EngineDiedError, match=r"gave no sign of life for 0\.2 seconds and was killed"):
            await engine.warm(prompt("hang"))
        assert await engine.count("xyz") == 3


async def test_a_long_call_that_shows_life_is_not_a_hang(running: Running) -> None:
    async with running(silence=1.6) as engine:
        assert await engine.warm(prompt("toil 2.4")) == USED
        assert engine.status().restarts == 0


async def test_a_model_that_cannot_be_loaded_is_not_tried_again_until_asked(
    running: Running, tmp_path: Path
) -> None:
    async with running("absent") as engine:
        with pytest.raises(ModelError, match=r"There is no model at .*absent; run `muleteer model pull`"):
            await engine.ready(READY_S)
        with pytest.raises(ModelError, match="There is no model"):
            await engine.count("x")
        status = engine.status()
        assert (status.state, status.restarts, status.pid) == ("failed", 0, None)
        assert "There is no model" in status.reason
        (tmp_path / "absent").touch()
        await engine.restart()
        assert await engine.count("x") == 1


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("crash", "SIGILL"),
        ("broken", "could not load its model: .*ValueError: the script says so"),
        ("endless", r"did not finish loading within 0\.3 seconds"),
    ],
)
async def test_it_gives_up_after_its_restarts_and_says_why(running: Running, model: str, words: str) -> None:
    timeout = 0.3 if model == "endless" else READY_S
    async with running(model, restarts=1, load_timeout=timeout) as engine:
        with pytest.raises(EngineError, match=words):
            await asyncio.shield(engine.ready(READY_S))
        status = engine.status()
        assert status.state == "failed"
        assert status.restarts == (2 if model == "crash" else 1)  # once more without the extra buffers
        assert "too often in a row" in status.reason
        with pytest.raises(EngineError, match="stays down"):
            await engine.count("x")


async def test_a_command_that_cannot_be_started_is_named(running: Running, tmp_path: Path) -> None:
    missing = tmp_path / "no-such-program"
    async with running(restarts=0, command=(str(missing),)) as engine:
        with pytest.raises(EngineError, match=r"could not be started .*no-such-program"):
            await engine.ready(READY_S)


async def test_a_finished_decode_forgives_earlier_failures(running: Running) -> None:
    async with running(restarts=1) as engine:
        for round in range(3):
            await engine.warm(prompt(""))
            with pytest.raises(EngineDiedError):
                await engine.warm(prompt("exit 1"))
            assert engine.status().restarts == round
        await engine.ready(READY_S)


async def test_counting_tokens_forgives_nothing(running: Running) -> None:
    async with running(restarts=1) as engine:
        for follows in ("being started again", "stays down"):
            await engine.count("x")
            with pytest.raises(EngineDiedError, match=follows):
                await engine.warm(prompt("exit 1"))
        assert engine.status().state == "failed"


async def test_a_crash_before_the_first_decode_turns_the_extra_buffers_off(running: Running) -> None:
    async with running("crash-with-extra-buffers", restarts=0) as engine:
        properties = await engine.ready(READY_S)
        assert not properties.extra_buffers
        assert "without llama.cpp's extra buffers" in engine.status().reason


async def test_a_crash_in_the_first_decode_turns_the_extra_buffers_off(running: Running) -> None:
    async with running(restarts=0) as engine:
        assert (await engine.ready(READY_S)).extra_buffers
        with pytest.raises(EngineDiedError, match="SIGSEGV"):
            await engine.warm(prompt(f"crash {signal.SIGSEGV:d}"))
        assert not (await engine.ready(READY_S)).extra_buffers


async def test_a_kill_says_nothing_about_the_extra_buffers(running: Running) -> None:
    async with running("kill-with-extra-buffers", restarts=1) as engine:
        with pytest.raises(EngineError, match=r"SIGKILL.*stays down"):
            await engine.ready(READY_S)


async def test_nobody_waits_for_ever_for_an_engine_that_is_not_ready(running: Running) -> None:
    async with running("endless", load_timeout=0.2, first_pause=30.0) as engine:
        with pytest.raises(EngineError, match=r"not ready after 0\.2 seconds: it is "):
            await engine.count("x")
        with pytest.raises(EngineError, match=r"not ready after 0\.1 seconds"):
            await engine.ready(0.1)


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
