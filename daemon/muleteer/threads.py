"""Run a blocking function beside the event loop, without ever waiting for it at exit.

asyncio's own executor is joined when the loop closes, so one function that hangs would hold up the whole
daemon. A thread from here dies with the process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T], name: str, done: Callable[[], None]) -> T:
    """The function's result, or what it raised. Cancelling stops the waiting, not the thread; `done` is
    called in the loop once the thread has really ended (not at all if the loop is gone by then)."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        done()
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]  # without an error it is a T
        else:
            future.set_exception(error)

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = function()
        except StopIteration as stop:  # a future refuses to carry it
            error = RuntimeError(f"StopIteration: {stop}")
        except BaseException as caught:  # noqa: BLE001  # it is raised again where the function was awaited
            error = caught
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop was closed meanwhile; nobody waits any more
            return

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future
