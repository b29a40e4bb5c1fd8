"""Threads that may never end: their results, their faults, and what they cannot hold up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from muleteer.calling.threads import OwnLoop, in_thread, within


async def ended(function: object, done: asyncio.Event) -> object:
    assert callable(function)
    return await in_thread(function, "the thread", done.set)


async def test_the_result_comes_back_and_the_end_is_told() -> None:
    done = asyncio.Event()
    assert await ended(lambda: 5, done) == 5
    await asyncio.wait_for(done.wait(), 10)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration])
async def test_what_would_end_the_loop_comes_back_as_an_ordinary_error(kind: type[BaseException]) -> None:
    def fail() -> None:
        raise kind

    with pytest.raises(RuntimeError, match=f"{kind.__name__} in the thread"):
        await ended(fail, asyncio.Event())


async def test_an_ordinary_error_comes_back_as_it_is() -> None:
    error = OSError("no")

    def fail() -> None:
        raise error

    with pytest.raises(OSError, match="no") as caught:
        await ended(fail, asyncio.Event())
    assert caught.value is error


async def test_cancelling_stops_the_waiting_and_the_end_is_told_later() -> None:
    started, release, done = asyncio.Event(), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        loop.call_soon_threadsafe(started.set)
        release.wait()

    waiting = asyncio.create_task(ended(wait, done))
    await started.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not done.is_set()
    release.set()
    await asyncio.wait_for(done.wait(), 10)


def test_within_gives_up_after_its_time() -> None:
    release = threading.Event()
    with pytest.raises(TimeoutError, match=r"the thread took longer than 0\.01 s\."):
        within(0.01, release.wait, "the thread")
    release.set()
    assert within(10, lambda: 5, "the thread") == 5


def test_a_loop_cancelled_before_it_began_ends_at_once() -> None:
    own = OwnLoop()
    own.cancel()
    with pytest.raises(asyncio.CancelledError):
        own.run(asyncio.sleep(60))
    own.cancel()  # nothing is left to cancel


BLOCKING = """
import asyncio, sys
from muleteer.tool import Result, Services, tool
from muleteer.toolbox import Toolbox

@tool(effect="read", timeout=0.1)
{kind}def spin() -> Result:
    '''Never end.'''
    while True:
        pass

async def main():
    return (await Toolbox.of([spin], Services(None)).call("spin", {{}})).result.text

print(asyncio.run(main()))
"""


@pytest.mark.parametrize("kind", ["", "async "])
def test_the_process_ends_although_a_tool_does_not(kind: str) -> None:
    command = [sys.executable, "-c", BLOCKING.format(kind=kind)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "spin took longer than 0.1 s and was stopped.\n"
