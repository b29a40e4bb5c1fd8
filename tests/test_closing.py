from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from muleteer.closing import Closing, Stop, end_tasks


@pytest.fixture
def calm() -> asyncio.Event:
    """Nobody is in a hurry."""
    return asyncio.Event()


async def test_last_opened_is_closed_first(calm: asyncio.Event) -> None:
    closing, closed = Closing(), list[str]()

    async def close() -> None:
        closed.append("second")

    closing.add("first", lambda: closed.append("first"))
    closing.add("second", close)
    await closing.close(calm)
    await closing.close(calm)
    assert closed == ["second", "first"]


@pytest.mark.parametrize("wait", [False, True])
async def test_failing_step_is_logged_and_the_rest_still_run(
    wait: bool, calm: asyncio.Event, caplog: pytest.LogCaptureFixture
) -> None:
    closing, closed = Closing(), list[str]()

    async def fail() -> None:
        raise OSError("disk on fire")

    def fail_at_once() -> None:
        raise OSError("disk on fire")

    closing.add("first", lambda: closed.append("first"))
    closing.add("burning", fail if wait else fail_at_once)
    closing.add("third", lambda: closed.append("third"))
    with caplog.at_level(logging.ERROR):
        await closing.close(calm)
    assert closed == ["third", "first"]
    assert "Closing the burning failed." in caplog.text
    assert "disk on fire" in caplog.text


async def test_step_is_cancelled_at_its_deadline(
    calm: asyncio.Event, caplog: pytest.LogCaptureFixture
) -> None:
    closing, closed = Closing(), list[str]()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            closed.append("cancelled")
            raise

    closing.add("first", lambda: closed.append("first"))
    closing.add("hanging", hang, seconds=0.01)
    await closing.close(calm)
    assert closed == ["cancelled", "first"]
    assert "hanging: cut short, not done within 0.01 seconds" in caplog.text


async def test_step_that_ignores_its_deadline_is_left_behind(
    calm: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.closing.GRACE_SECONDS", 0.01)
    closing, closed, enough, ended = Closing(), list[str](), asyncio.Event(), asyncio.Event()

    async def deaf() -> None:
        while not enough.is_set():
            with suppress(asyncio.CancelledError):
                await enough.wait()
        ended.set()

    closing.add("first", lambda: closed.append("first"))
    closing.add("deaf", deaf, seconds=0.01)
    async with asyncio.timeout(10):
        await closing.close(calm)
        assert (closed, ended.is_set()) == (["first"], False)
        enough.set()
        await ended.wait()


async def test_hurry_cuts_waiting_steps_short_and_skips_none(calm: asyncio.Event) -> None:
    closing, closed = Closing(), list[str]()

    async def hang() -> None:
        calm.set()
        await asyncio.Event().wait()

    closing.add("first", lambda: closed.append("first"))
    closing.add("second", hang, seconds=60)
    closing.add("third", hang, seconds=60)
    async with asyncio.timeout(10):
        await closing.close(calm)
    assert closed == ["first"]


async def test_first_signal_asks_and_a_second_one_hurries() -> None:
    stop = Stop()
    with stop.at_signals():
        for number, event in ((signal.SIGHUP, stop.asked), (signal.SIGTERM, stop.forced)):
            assert not event.is_set()
            signal.raise_signal(number)
            async with asyncio.timeout(10):
                await event.wait()
    assert stop.signal is signal.SIGHUP
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


async def test_closing_the_terminal_is_ignored_under_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stop = Stop()
        with stop.at_signals():
            signal.raise_signal(signal.SIGHUP)
            await asyncio.sleep(0)
            assert (stop.signal, stop.asked.is_set()) == (None, False)
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_every_other_task_is_ended() -> None:
    task = asyncio.create_task(asyncio.Event().wait())
    await end_tasks()
    assert task.cancelled()


class Script:
    """A process that runs a few lines with the names they need."""

    def __init__(self, lines: str) -> None:
        source = f"import asyncio, threading, uvloop\nfrom muleteer import closing\n{lines}"
        self.process = subprocess.Popen(
            [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_for_a_line(self) -> None:
        assert self.process.stdout
        assert self.process.stdout.readline()

    def ends(self) -> tuple[int, str]:
        try:
            _, errors = self.process.communicate(timeout=30)
        finally:
            self.process.kill()
        return self.process.returncode, errors


STUCK = """
closing.HURRY_SECONDS = 0.1

async def main():
    with closing.Stop({patience}).at_signals():
        print("stuck", flush=True)
        while True:
            try:
                pass
            except BaseException:
                pass

asyncio.Runner(loop_factory=uvloop.new_event_loop).run(main())
"""


@pytest.mark.parametrize(
    ("patience", "numbers"), [(0.1, [signal.SIGTERM]), (60, [signal.SIGINT, signal.SIGTERM])]
)
def test_loop_that_never_goes_on_does_not_keep_the_process(
    patience: float, numbers: list[signal.Signals]
) -> None:
    script = Script(STUCK.format(patience=patience))
    script.wait_for_a_line()
    for number in numbers:
        script.process.send_signal(number)
    assert script.ends() == (-numbers[0], "")


DEAF = """
async def deaf():
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass

async def main():
    task = asyncio.create_task(deaf(), name="a deaf one")
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)
    await asyncio.sleep(0)
    await closing.end_tasks()

runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
runner.run(main())
closing.leave({code}, {number})
"""


@pytest.mark.parametrize(
    ("code", "number", "status"), [(3, None, 3), (0, 15, -15), (3, 15, 3)], ids=["code", "signal", "both"]
)
def test_process_leaves_tasks_and_threads_that_do_not_end(code: int, number: int | None, status: int) -> None:
    ended, errors = Script(DEAF.format(code=code, number=number)).ends()
    assert ended == status
    assert "they are cut off: a deaf one." in errors


async def test_what_others_wait_for_is_closed_before_all_else(calm: asyncio.Event) -> None:
    closing, closed = Closing(), list[str]()
    closing.add("first", lambda: closed.append("first"))
    closing.add("urgent", lambda: closed.append("urgent"), urgent=True)
    closing.add("second", lambda: closed.append("second"))
    await closing.close(calm)
    assert closed == ["urgent", "second", "first"]
