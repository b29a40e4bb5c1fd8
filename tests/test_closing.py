from __future__ import annotations

import asyncio
import logging

import pytest

from muleteer.closing import Closing


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
