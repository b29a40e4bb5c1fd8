"""The command that makes a noise when a timer rings: no shell, its time limited, nothing of it left behind.

Knows processes. Does not know when to ring.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from muleteer.timers import Timer

log = logging.getLogger(__name__)

MOST_COMMANDS = 4  # running at once; more alarms than that make no more noise
KILL_SECONDS = 1.0  # from SIGTERM to SIGKILL


class Chime:
    """Runs `command`, ended after `seconds`; MULETEER_TIMER and MULETEER_LABEL tell it which timer."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._command, self._seconds = tuple(command), seconds
        self._running: set[asyncio.Task[None]] = set()

    def ring(self, timer: Timer) -> None:
        """Begin to ring; waits for nothing."""
        if not self._command:
            return
        if len(self._running) >= MOST_COMMANDS:
            log.warning("Timer %d rings without its command: %d are running.", timer.id, MOST_COMMANDS)
            return
        task = asyncio.create_task(self._run(timer), name=f"chime {timer.id}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def hush(self) -> None:
        """End whatever rings; waits for nothing."""
        for task in self._running:
            task.cancel()

    async def close(self) -> None:
        self.hush()
        if self._running:
            await asyncio.wait(self._running)

    async def _run(self, timer: Timer) -> None:
        told = {"MULETEER_TIMER": str(timer.id), "MULETEER_LABEL": timer.label.replace("\0", "")}
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=os.environ | told,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            log.error("The command timers.command cannot be started: %s.", error)
            return
        try:
            async with asyncio.timeout(self._seconds):
                if code := await process.wait():
                    log.warning("The command timers.command ended with %d.", code)
        except TimeoutError:
            log.info("The command timers.command was ended after %g s.", self._seconds)
        finally:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and all it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_SECONDS):
                await process.wait()
