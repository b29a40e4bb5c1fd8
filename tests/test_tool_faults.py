"""Tools that misbehave on purpose: each costs its own call, never the daemon's loop, deadline or stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import AfterValidator

from muleteer.tool import Note, Result, Services, tool
from muleteer.toolbox import STUCK_LIMIT, Toolbox
from tests.waiting import join_new


class Pad:
    """The simplest notebook."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    async def add(self, text: str, page: str = "") -> Note:
        self.notes.append(text)
        return Note(text, datetime.now(UTC))

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return []


SERVICES = Services(Pad())


async def text_of(toolbox: Toolbox, name: str, **arguments: object) -> str:
    return (await toolbox.call(name, arguments)).result.text


def interrupt(_: str) -> str:
    raise KeyboardInterrupt


@tool(effect="read")
def typed(word: Annotated[str, AfterValidator(interrupt)]) -> Result:
    """Take a word.

    word: any
    """
    return Result.ok(word)


class Speechless(BaseException):
    def __str__(self) -> str:
        raise KeyboardInterrupt


FAULTS = {
    KeyboardInterrupt: "KeyboardInterrupt.",
    GeneratorExit: "GeneratorExit.",
    BaseException: "BaseException.",
    StopIteration: "StopIteration.",
    Speechless: "Speechless.",
}


@pytest.mark.parametrize("kind", FAULTS)
async def test_whatever_a_tool_raises_costs_one_call(kind: type[BaseException]) -> None:
    @tool(effect="read")
    def plain() -> Result:
        """Raise it."""
        raise kind

    @tool(effect="read")
    async def coroutine() -> Result:
        """Raise it."""
        raise kind

    @tool(effect="read")
    async def task() -> Result:
        """Raise it in a task of its own."""
        await asyncio.create_task(coroutine())
        return Result.ok("")

    toolbox = Toolbox.of([plain, coroutine, task], SERVICES)
    text = FAULTS[kind]
    assert await text_of(toolbox, "plain") == f"plain failed: {text}"
    if kind is StopIteration:
        text = "RuntimeError: coroutine raised StopIteration."
    assert await text_of(toolbox, "coroutine") == f"coroutine failed: {text}"
    assert await text_of(toolbox, "task") == f"task failed: {text}"


async def test_a_type_of_the_tool_may_fail_too() -> None:
    assert await text_of(Toolbox.of([typed], SERVICES), "typed", word="x") == (
        "typed was not called: KeyboardInterrupt."
    )


async def test_what_a_tool_returns_is_checked() -> None:
    @tool(effect="read")
    async def number() -> Result:
        """Say a number."""
        return Result.ok(5)  # type: ignore[arg-type]  # that is the fault

    assert await text_of(Toolbox.of([number], SERVICES), "number") == (
        "number is broken: it gave int instead of str as the text of its Result."
    )


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """Set at the end, so that no tool goes on into the next test."""
    event = threading.Event()
    yield event
    event.set()


async def test_a_coroutine_that_blocks_does_not_block_the_daemon(released: threading.Event) -> None:
    @tool(effect="read", timeout=0.05)
    async def spin() -> Result:
        """Never wait for anything."""
        while not released.is_set():
            pass
        return Result.ok("never")

    toolbox = Toolbox.of([spin], SERVICES)
    for _ in range(STUCK_LIMIT):
        assert await text_of(toolbox, "spin") == "spin took longer than 0.05 s and was stopped."
    assert await text_of(toolbox, "spin") == f"spin is still stuck in {STUCK_LIMIT} earlier calls."


async def test_calls_that_run_are_not_stuck() -> None:
    everyone = threading.Barrier(STUCK_LIMIT + 2)

    @tool(effect="read")
    async def meet() -> Result:
        """Wait for all the others."""
        everyone.wait(10)
        return Result.ok("met")

    toolbox = Toolbox.of([meet], SERVICES)
    texts = await asyncio.gather(*(text_of(toolbox, "meet") for _ in range(STUCK_LIMIT + 2)))
    assert set(texts) == {"met"}


def swallowing(pad: Pad, released: threading.Event, started: Callable[[], object], timeout: float) -> Toolbox:
    @tool(effect="write", timeout=timeout)
    async def swallow(home: Services) -> Result:
        """Refuse to be cancelled, then write all the same."""
        started()
        while not released.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        await home.notebook.add("too late")
        return Result.ok("never")

    return Toolbox.of([swallow], Services(pad))


async def test_a_tool_cannot_defeat_its_deadline(released: threading.Event) -> None:
    pad, before = Pad(), threading.enumerate()
    toolbox = swallowing(pad, released, lambda: None, 0.05)
    assert await text_of(toolbox, "swallow") == (
        "swallow did not answer within 0.05 s; it may have been done all the same."
    )
    released.set()
    join_new("tool swallow", before)
    await asyncio.sleep(0)  # what it asked of this loop would happen now
    assert pad.notes == []


async def test_a_tool_cannot_defeat_the_cancellation_of_its_caller(released: threading.Event) -> None:
    loop, started = asyncio.get_running_loop(), asyncio.Event()
    toolbox = swallowing(Pad(), released, lambda: loop.call_soon_threadsafe(started.set), 60)
    call = asyncio.create_task(toolbox.call("swallow", {}))
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_deadline_cancels_the_coroutine() -> None:
    loop, cleaned = asyncio.get_running_loop(), asyncio.Event()

    @tool(effect="read", timeout=0.05)
    async def tidy_up() -> Result:
        """Clean up when cancelled."""
        try:
            await asyncio.Event().wait()
        finally:
            loop.call_soon_threadsafe(cleaned.set)
        return Result.ok("never")

    assert "took longer" in await text_of(Toolbox.of([tidy_up], SERVICES), "tidy_up")
    await asyncio.wait_for(cleaned.wait(), 10)


DOUBLING = '''
from pydantic import create_model
from muleteer.tool import Result, tool

level = create_model("L0", a=(int, ...))
for number in range(1, 22):
    level = create_model(f"L{number}", a=(level, ...), b=(level, ...))

@tool(effect="read")
def doubling(x: level) -> Result:
    """Do it.

    x: something
    """
    return Result.ok("")
'''


def test_types_that_double_disable_their_tool_and_leave_no_thread_behind(tmp_path: Path) -> None:
    path = tmp_path / "doubling.py"
    path.write_text(DOUBLING)
    toolbox = Toolbox.load([tmp_path], SERVICES, seconds=10)
    assert toolbox.disabled["doubling"].startswith(f"{path} is not usable: The schema at / cannot")
    for thread in threading.enumerate():
        if thread.name == "load doubling":  # it has answered and is about to end
            thread.join(5)
            assert not thread.is_alive()
