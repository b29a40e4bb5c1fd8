"""Deaths, hangs and failed loads of the engine process, as its callers see them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.errors import EngineDiedError, EngineError, ModelError
from tests.engine.observing import READY_S, USED, Printed, Running, alive, printing, runner
from tests.engine.scripted_worker import prompt


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return runner(tmp_path)


@pytest.fixture
async def printed() -> AsyncIterator[Printed]:
    with printing() as printed:
        yield printed


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
        ("answer 2", "gave an answer that does not fit its request"),
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
        assert str(caught.value).endswith(("in a moment.", "again soon."))
        assert await engine.count("xyz") == 3
        status = engine.status()
        assert status.restarts == 1
        assert status.pid != first.pid
        assert not alive(first.pid)
        assert status.reason
        assert status.totals.decoded >= first.totals.decoded
        assert status.held.resident_tokens == 0
        assert status.properties
        assert status.properties.extra_buffers
        await engine.warm(prompt(""))
        assert engine.status().reason == ""


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


async def test_warming_in_the_background_forgives_nothing(running: Running) -> None:
    async with running(restarts=1) as engine:
        for follows in ("being started again", "stays down"):
            await engine.lane(background=True).warm(prompt(""))
            with pytest.raises(EngineDiedError, match=follows):
                await engine.warm(prompt("exit 1"))
        assert engine.status().state == "failed"


async def test_an_illegal_instruction_is_no_silent_loop(running: Running, printed: Printed) -> None:
    async with running("crash", restarts=2) as engine:
        with pytest.raises(EngineError, match=r"SIGILL.*stays down"):
            await engine.ready(READY_S)
        told = [line for line in printed.lines if "SIGILL: an instruction that this processor lacks" in line]
        assert len(told) == 4  # once with the extra buffers, once without, and two restarts
        assert engine.status().restarts == 3
        starts = len(printed.lines)
        with pytest.raises(EngineError, match="stays down"):
            await engine.count("x")
        assert len(printed.lines) == starts


async def test_an_answer_longer_than_its_limit_ends_the_process(running: Running) -> None:
    async with running() as engine:
        await engine.warm(prompt(""))
        with pytest.raises(EngineError, match="does not fit its request"):
            assert len([part async for part in engine.write(prompt("say a b c d"), limit=2)]) < 4
        assert await engine.count("xyz") == 3
        assert engine.status().restarts == 1


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


async def test_a_load_that_takes_too_long_is_what_its_callers_are_told(running: Running) -> None:
    async with running("endless", load_timeout=0.2, first_pause=30.0) as engine:
        calls = [engine.count("x"), engine.lane(background=True).count("x")]
        for result in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(result, EngineError)
            assert "did not finish loading within 0.2 seconds" in str(result)
        with pytest.raises(
            EngineError, match=r"not ready after 0\.1 seconds: it is restarting\. .*0\.2 seconds"
        ):
            await engine.ready(0.1)


async def test_nobody_waits_for_ever_for_an_engine_that_is_not_ready(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.engine.client.LATE_S", 0.1)
    async with running(command=("no-such-program",), load_timeout=0.2, first_pause=30.0) as engine:
        with pytest.raises(EngineError, match=r"not ready after 0\.2 seconds: it is .* could not be started"):
            await engine.count("x")
