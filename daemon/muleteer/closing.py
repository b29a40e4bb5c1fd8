"""The end of a process: being told to stop, and closing what was opened in reverse.

Each step has a deadline, and one failing step does not stop the rest. Knows nothing of what the steps do.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT)
GRACE_SECONDS = 1.0  # for a step that was cancelled; one that ignores that is left to the end of the process


class Stop:
    """The wish to stop. Asked once, the process stops in order; asked again, it hurries."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.forced = asyncio.Event()
        self.signal: signal.Signals | None = None

    def ask(self) -> None:
        (self.forced if self.asked.is_set() else self.asked).set()

    @contextmanager
    def at_signals(self) -> Iterator[None]:
        """SIGTERM and SIGINT ask; the first one is remembered."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def _signalled(self, number: signal.Signals) -> None:
        self.signal = self.signal or number
        log.info("Stopping%s: %s.", " at once" if self.asked.is_set() else "", number.name)
        self.ask()


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    close: Callable[[], Awaitable[None] | None]
    seconds: float


class Closing:
    """A stack of steps. Each was made possible by the ones before it, so the last one goes first."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []

    def add(self, name: str, close: Callable[[], Awaitable[None] | None], seconds: float = 5.0) -> None:
        """`close` will be given so many seconds, then it is cancelled."""
        self._steps.append(_Step(name, close, seconds))

    async def close(self, hurry: asyncio.Event) -> None:
        """Run every step once. From the moment that `hurry` is set, a step that waits is cancelled."""
        hurried = asyncio.create_task(hurry.wait())
        while self._steps:
            step = self._steps.pop()
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
