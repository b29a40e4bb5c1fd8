"""The election on this device's clock: one input after the other, each output carried out in its order.

What must be durable is on disk before anything is sent. The clock also counts while the board is suspended.
Knows the pure machine and when it wants to be woken; does not know connections or files.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from muleteer.errors import StorageError
from muleteer.seat.election import Election
from muleteer.seat.messages import Durable, Message, Output, Role, RoleChange
from muleteer.seat.timing import TICK_SECONDS

log = logging.getLogger(__name__)

Input = Callable[[int], Output]

MOST_WAITING = 1000  # inputs, while the disk is slow; messages beyond are lost, as on a network
TELL_SECONDS = 5.0  # that a person waits for a slow card
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
DISK_SECONDS = 5.0  # between two tries to write, while nothing is sent
LONGEST_SLEEP = 600.0  # seconds; never is too far for a timer
MOST_BOOTS = 1 << 14  # a start is told from the one before it; two bytes, since every message carries it
CLOCK = time.CLOCK_BOOTTIME


class Surroundings(Protocol):
    """What the machine acts on. `keep` blocks, in a thread of its own, and raises `OSError`."""

    def keep(self, durable: Durable) -> None: ...
    def send(self, message: Message) -> None: ...
    def changed(self, change: RoleChange) -> None: ...
    def warned(self, warning: str) -> None: ...
    def stepped(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Standing:
    """What of the election is on disk and may be told; `since` in ticks."""

    role: Role
    driver: str
    term: int
    reason: str
    since: int


class Machine:
    """Runs the election of the device `me`, from `run` until that is cancelled."""

    def __init__(self, me: str, durable: Durable, surroundings: Surroundings) -> None:
        self._began = time.clock_gettime(CLOCK)
        self.election = Election(me, durable, seed=secrets.randbits(64), boot=secrets.randbelow(MOST_BOOTS))
        self._around = surroundings
        self.standing = self._stand()
        self.trouble = ""  # why nothing can be kept, while that lasts
        self._troubled = asyncio.Event()
        self._inputs: asyncio.Queue[tuple[Input, asyncio.Future[None] | None]] = asyncio.Queue()

    def now(self) -> int:
        """Ticks since this was made."""
        return int((time.clock_gettime(CLOCK) - self._began) / TICK_SECONDS)

    def drives(self) -> bool:
        """Whether this device may act for the household, now."""
        return self.election.drives(self.now())

    def heard(self, message: Message) -> None:
        """A message has come."""
        if self._inputs.qsize() < MOST_WAITING:
            self._inputs.put_nowait((lambda now: self.election.step(message, now), None))

    async def ask(self, given: Input) -> None:
        """Give the machine an input, and return when its output is carried out. Raises its `ValueError`."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._inputs.put_nowait((given, done))
        await done

    async def tell(self, given: Input) -> None:
        """As `ask`, for a person, who does not wait for a disk: raises `StorageError` while it takes nothing.
        What has begun by then is done when it does."""
        done = asyncio.ensure_future(self.ask(given))
        troubled = asyncio.create_task(self._troubled.wait())
        await asyncio.wait([done, troubled], timeout=TELL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        troubled.cancel()
        if not done.done():
            done.cancel()
            raise StorageError(
                f"This device cannot keep its vote: {self.trouble or 'the disk does not answer'}. "
                "Until it can, it neither takes the seat nor gives it away."
            )
        await done

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            given, done = await self._next()
            if done and done.done():  # whoever gave it waits no more
                continue
            try:
                output = given(self.now())
            except ValueError as error:  # what was asked for cannot be done now
                if done is None:
                    raise
                if not done.done():
                    done.set_exception(error)
                continue
            await self._carry_out(output)
            if done and not done.done():
                done.set_result(None)

    async def _next(self) -> tuple[Input, asyncio.Future[None] | None]:
        """The next input; the time, when it is due."""
        left = min((self.election.wake_at - self.now()) * TICK_SECONDS, LONGEST_SLEEP)
        try:
            async with asyncio.timeout(max(TICK_SECONDS, left)):
                return await self._inputs.get()
        except TimeoutError:
            return self.election.tick, None

    async def _carry_out(self, output: Output) -> None:
        if output.durable is not None:
            await self._keep(output.durable)
            self.election.saved()
        self.standing = self._stand()
        for message in output.messages:
            self._around.send(message)
        for change in output.changes:
            self._around.changed(change)
        for warning in output.warnings:
            self._around.warned(warning)
        self._around.stepped()

    async def _keep(self, durable: Durable) -> None:
        """Until it is on disk: what is not may not be said."""
        while True:
            try:
                await asyncio.to_thread(self._around.keep, durable)
            except OSError as error:
                if not self.trouble:
                    log.error(
                        "Seat: a vote cannot be kept (%s), so this device says nothing.", error.strerror
                    )
                self.trouble = "the disk is full" if error.errno in NO_ROOM else str(error.strerror or error)
                self._troubled.set()
                await asyncio.sleep(DISK_SECONDS)
            else:
                self.trouble = ""
                self._troubled.clear()
                return

    def _stand(self) -> Standing:
        election = self.election
        return Standing(election.role, election.driver, election.term, election.reason, election.since)
