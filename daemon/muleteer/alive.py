"""What systemd is told: that the start goes on, that a turn can be served, and every while that all is well.

The watchdog is fed by the event loop, as long as the engine does not hang: a loop that stands still and a
decode that shows no progress both end in a restart. A decode that hangs is first ended by `engine/client.py`;
this is for what that cannot end. Knows the health and the engine's silence; not why either is so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from muleteer.notify import MICRO, Notifier

log = logging.getLogger(__name__)

START_STEP_SECONDS = 5.0  # between two signs of a start that goes on
START_GRACE_SECONDS = 60  # what each of them asks for: a slow card may stop everything for that long
TELL_SECONDS = 30.0  # between two looks at the state without a watchdog
FEEDS = 3  # in one watchdog interval; one may come late

Report = Callable[[], tuple[str, str]]


class Alive:
    """`report` gives the state and why it is that, `silence` the seconds for which the engine has shown no
    progress at a request (0: there is none). `pause` waits so many seconds."""

    def __init__(
        self,
        notifier: Notifier,
        report: Report,
        silence: Callable[[], float],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._notifier, self._report, self._silence, self._pause = notifier, report, silence, pause
        self._status = ""
        self._starving = False

    async def run(self) -> None:
        """Tell, pause; until cancelled."""
        while True:
            await self._pause(self.tell())

    def tell(self) -> float:
        """Say what there is to say now; the seconds until the next time."""
        state, reason = self._report()
        self._say(f"{state}: {reason}" if reason else state)
        if state in ("starting", "loading"):
            self._notifier.send(EXTEND_TIMEOUT_USEC=START_GRACE_SECONDS * MICRO)
        limit = self._notifier.watchdog
        if limit:
            self._feed(limit)
        if state in ("starting", "loading"):
            return min(START_STEP_SECONDS, limit / FEEDS or START_STEP_SECONDS)
        return limit / FEEDS or TELL_SECONDS

    def ready(self) -> None:
        """The first turn can be served."""
        self._notifier.send(READY=1)
        self.tell()

    def stopping(self) -> None:
        self._notifier.send(STOPPING=1, STATUS="stopping")

    def _say(self, status: str) -> None:
        if status != self._status:
            self._notifier.send(STATUS=status)
            self._status = status

    def _feed(self, limit: float) -> None:
        silent = self._silence()
        if silent < limit:
            self._notifier.send(WATCHDOG=1)
            self._starving = False
        elif not self._starving:
            self._starving = True
            log.error("The engine has shown no progress for %.0f s: the watchdog is fed no more.", silent)
