"""The end of a process: being told to stop, and closing what was opened in reverse.

Each step has a deadline, and one failing step does not stop the rest. What ignores its deadline, be it a
task or code that never lets the event loop go on, is left to the end of the process, which waits for nothing.
Knows nothing of what the steps do.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PATIENCE_SECONDS = 60.0  # from the first signal to the end; below the 90 s after which systemd kills
HURRY_SECONDS = 8.0  # from the second: the grace of every step there is, and then some
GRACE_SECONDS = 1.0  # for a step that was cancelled; one that ignores that is left to the end of the process


class Stop:
    """The wish to stop. Asked once, the process stops in order; asked again, it hurries.

    `patience` is how many seconds after the first signal the process ends in any case.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self.asked = asyncio.Event()
        self.forced = asyncio.Event()
        self.signal: signal.Signals | None = None
        self._patience = patience

    def ask(self) -> None:
        (self.forced if self.asked.is_set() else self.asked).set()

    @contextmanager
    def at_signals(self) -> Iterator[None]:
        """SIGTERM, SIGINT and, unless it is ignored (nohup), SIGHUP ask; the first one is remembered."""
        loop = asyncio.get_running_loop()
        numbers = [each for each in SIGNALS if each != signal.SIGHUP or not _ignored(each)]
        signal.signal(signal.SIGALRM, self._overdue)
        for number in numbers:
            loop.add_signal_handler(number, self._signalled, number)
            signal.signal(number, self._arrived)  # called even if the loop never calls the other one
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _arrived(self, number: int, frame: object) -> None:
        """Between any two steps of Python code: from now on the end does not depend on the event loop."""
        again = self.signal is not None
        self.signal = self.signal or signal.Signals(number)
        signal.setitimer(signal.ITIMER_REAL, HURRY_SECONDS if again else self._patience)

    def _overdue(self, number: int, frame: object) -> None:
        if self.signal:
            die_of(self.signal)

    def _signalled(self, number: signal.Signals) -> None:
        log.info("Stopping%s: %s.", " at once" if self.asked.is_set() else "", number.name)
        self.ask()


def _ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


def die_of(number: signal.Signals) -> None:
    """End the process by this signal, so that whoever started it sees the true cause."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def leave(code: int, number: signal.Signals | None) -> NoReturn:
    """End the process, waiting for no task or thread: with `code`, or by the signal if that is 0."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a terminal or reader that is gone, or a stream that is closed
            stream.flush()
    if number and not code:
        die_of(number)
    os._exit(code)


async def end_tasks() -> None:
    """Cancel every other task of this loop and give them a moment."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel("the process ends")
    if not tasks:
        return
    _, left = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
    if left:
        names = ", ".join(sorted(task.get_name() for task in left))
        log.warning("Some tasks ignore that the process ends; they are cut off: %s.", names)


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    close: Callable[[], Awaitable[None] | None]
    seconds: float


class Closing:
    """A stack of steps. Each was made possible by the ones before it, so the last one goes first, after those
    that are urgent: others wait for them, on other devices."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._urgent: list[_Step] = []

    def add(
        self,
        name: str,
        close: Callable[[], Awaitable[None] | None],
        seconds: float = 5.0,
        urgent: bool = False,
    ) -> None:
        """`close` will be given so many seconds, then it is cancelled."""
        (self._urgent if urgent else self._steps).append(_Step(name, close, seconds))

    async def close(self, hurry: asyncio.Event) -> None:
        """Run every step once. From the moment that `hurry` is set, a step that waits is cancelled."""
        hurried = asyncio.create_task(hurry.wait())
        while self._urgent or self._steps:
            step = (self._urgent or self._steps).pop()
            try:
                await self._run(step, hurried)
            except Exception:
                log.exception("Closing the %s failed.", step.name)
        hurried.cancel()

    async def _run(self, step: _Step, hurried: asyncio.Task[bool]) -> None:
        awaitable = step.close()
        if awaitable is None:
            return
        task = asyncio.ensure_future(awaitable)
        await asyncio.wait({task, hurried}, timeout=step.seconds, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            why = "in a hurry" if hurried.done() else f"not done within {step.seconds:g} seconds"
            log.warning("Closing the %s: cut short, %s.", step.name, why)
            task.cancel(why)
            await asyncio.wait({task}, timeout=GRACE_SECONDS)
        if task.done() and not task.cancelled():
            task.result()
