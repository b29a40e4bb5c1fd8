"""When a timer rings by itself, and what is run then: a real command, which may not end, or fail."""

# ruff: noqa: F401, F811

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from muleteer.broadcast import Broadcast
from muleteer.chime import Chime
from muleteer.ringing import DeviceTimers, system_clock
from muleteer.store.timers import TimerStore
from tests.test_ringing import DEADLINE, Clock, Make, broadcast, clock, heard, make


async def test_the_command_is_told_the_label_and_no_shell_reads_it(
    make: Make, clock: Clock, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    os.mkfifo(said)
    timers = make("sh", "-c", f'printf %s "$MULETEER_LABEL:$MULETEER_TIMER" > {said}')
    label = "$(touch pwned); 'tea' `id`"
    set_ = await timers.set_timer(1, label)
    clock.passes(1)
    await timers.check()
    async with asyncio.timeout(DEADLINE):
        assert await asyncio.to_thread(said.read_text) == f"{label}:{set_.id}"


async def test_a_command_that_does_not_end_is_ended_with_its_children(
    make: Make, clock: Clock, tmp_path: Path
) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    timers = make("sh", "-c", f"exec 3> {alive}; trap '' TERM; sleep 1000 & sleep 1000", seconds=0.1)
    await timers.set_timer(1, "tea")
    clock.passes(1)
    await timers.check()
    async with asyncio.timeout(DEADLINE):
        # The end of the file is the end of the last process that holds it open.
        assert await asyncio.to_thread(alive.read_bytes) == b""


@pytest.mark.parametrize("command", ["/nowhere/at/all", "false"])
async def test_a_command_that_fails_is_logged_and_the_event_is_sent(
    make: Make, clock: Clock, broadcast: Broadcast, caplog: pytest.LogCaptureFixture, command: str
) -> None:
    timers = make(command)
    await timers.set_timer(1, "tea")
    clock.passes(1)
    with broadcast.listen() as listener:
        await timers.check()
        assert await heard(listener) == ("timer.rang", "tea")
    running = [task for task in asyncio.all_tasks() if task.get_name().startswith("chime")]
    await asyncio.gather(*running)
    assert "timers.command" in caplog.text


async def test_it_rings_by_itself_on_the_real_clock(tmp_path: Path, broadcast: Broadcast) -> None:
    timers = DeviceTimers(TimerStore(tmp_path / "timers.db"), broadcast, Chime((), 1.0), system_clock())
    await timers.open()
    try:
        with broadcast.listen() as listener:
            await timers.set_timer(60, "long")
            await timers.set_timer(0.05, "short")
            assert await heard(listener) == ("timer.rang", "short")
        assert [each.label for each in (await timers.pending()).timers] == ["long"]
    finally:
        await timers.close()


async def test_a_command_that_rings_ends_when_it_was_heard(make: Make, clock: Clock, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    timers = make("sh", "-c", f"exec 3> {alive}; printf . >&3; sleep 1000", seconds=1000.0)
    await timers.set_timer(1, "tea")
    clock.passes(1)
    await timers.check()
    async with asyncio.timeout(DEADLINE):
        with await asyncio.to_thread(alive.open, "rb") as pipe:
            assert await asyncio.to_thread(pipe.read, 1) == b"."
            timers.silence()
            assert await asyncio.to_thread(pipe.read) == b""
