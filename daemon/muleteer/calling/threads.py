"""Run functions that cannot be trusted to end, without ever waiting for them at exit.

asyncio's own executor is joined when the loop closes, so one function that hangs would hold up the whole
daemon. A thread from here dies with the process, and whatever is raised in it comes back as an `Exception`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")


def start(function: Callable[[], T], name: str) -> concurrent.futures.Future[T]:
    """The future of a function in a thread of its own. Raises `RuntimeError` when there can be no more."""
    future: concurrent.futures.Future[T] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()  # whoever stops waiting does not stop the thread

    def run() -> None:
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001  # it is raised again where the function was awaited
            carried = isinstance(error, Exception) and not isinstance(error, StopIteration)
            # KeyboardInterrupt and its like would end the loop, and a loop's future refuses StopIteration.
            future.set_exception(error if carried else RuntimeError(f"{type(error).__name__} in {name}"))
        else:
            future.set_result(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


async def in_thread(function: Callable[[], T], name: str, done: Callable[[], None]) -> T:
    """The function's result, or what it raised. Cancelling stops the waiting, not the thread; `done` is
    called in the loop once the thread has really ended (not at all if the loop is gone by then)."""
    loop = asyncio.get_running_loop()

    def ended(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile; nobody waits any more
            loop.call_soon_threadsafe(done)

    try:
        future = start(function, name)
    except RuntimeError:
        done()
        raise
    future.add_done_callback(ended)
    return await asyncio.wrap_future(future)


def within(seconds: float, function: Callable[[], T], name: str) -> T:
    """The function's result, or what it raised. Raises `TimeoutError` after `seconds`, and leaves the thread
    behind."""
    future = start(function, name)
    concurrent.futures.wait([future], seconds)
    if not future.done():
        raise TimeoutError(f"{name} took longer than {seconds:g} s.")
    return future.result()


class OwnLoop:
    """An event loop for one coroutine, in the thread that calls `run`; `cancel` is for any other thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.cancelled = False
        self._interrupt: Callable[[], object] | None = None

    def run(self, work: Awaitable[T]) -> T:
        """Wait for the work, as `asyncio.run` does."""
        return asyncio.run(self._watched(work))

    def cancel(self) -> None:
        """Cancel the work, also if it has yet to begin. Returns at once, whatever the work makes of it."""
        with self._lock:
            self.cancelled = True
            if self._interrupt is not None:
                with contextlib.suppress(RuntimeError):  # the loop is closed: the work has ended
                    self._interrupt()

    async def _watched(self, work: Awaitable[T]) -> T:
        loop = asyncio.get_running_loop()
        task = cast("asyncio.Task[Any]", asyncio.current_task())  # a running coroutine has one
        with self._lock:
            self._interrupt = lambda: loop.call_soon_threadsafe(task.cancel)
            if self.cancelled:
                task.cancel()
        return await work
