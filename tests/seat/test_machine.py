"""Nothing is said before what it rests on is on disk, and a disk that fails costs only the voice."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from muleteer.seat import machine as machines
from muleteer.seat.machine import Machine
from muleteer.seat.membership import Membership, Voter
from muleteer.seat.messages import Durable, Message, Role, RoleChange
from tests.seat.neighbours import until

ME, OTHER = "a" * 32, "b" * 32


class Around:
    """A disk that can be held up or fail, and what was said when it was in which state."""

    def __init__(self) -> None:
        self.kept: list[Durable] = []
        self.said: list[tuple[int, Message]] = []  # how much was kept by then
        self.changes: list[RoleChange] = []
        self.may_go = threading.Event()
        self.may_go.set()
        self.failures = 0

    def keep(self, durable: Durable) -> None:
        assert threading.current_thread() is not threading.main_thread()
        self.may_go.wait(30)
        if self.failures:
            self.failures -= 1
            raise OSError(errno.ENOSPC, "No space left on device")
        self.kept.append(durable)

    def send(self, message: Message) -> None:
        self.said.append((len(self.kept), message))

    def changed(self, change: RoleChange) -> None:
        self.changes.append(change)

    def warned(self, warning: str) -> None: ...
    def stepped(self) -> None: ...


@asynccontextmanager
async def running(durable: Durable, around: Around) -> AsyncIterator[Machine]:
    machine = Machine(ME, durable, around)
    task = asyncio.create_task(machine.run())
    try:
        yield machine
    finally:
        around.may_go.set()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_device_alone_drives_once_its_term_is_on_disk() -> None:
    around = Around()
    around.may_go.clear()
    async with running(Durable(Membership.alone(Voter(ME))), around) as machine:
        await asyncio.sleep(0.1)  # the disk is slow
        assert not machine.drives()
        assert around.changes == []
        around.may_go.set()
        await until(machine.drives)
        assert around.changes[-1].role is Role.ALONE
        assert around.kept[-1].term == machine.election.term == 1


async def test_nothing_is_said_while_the_disk_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(machines, "DISK_SECONDS", 0.05)
    around = Around()
    two = Membership((Voter(ME), Voter(OTHER)), 1, 1)
    async with running(Durable(two, 1), around) as machine:
        around.failures = 3
        await machine.ask(
            lambda now: machine.election.adopt(Membership((Voter(ME), Voter(OTHER)), 2, 1), now)
        )
        assert around.failures == 0
        assert around.kept[-1].membership.term == 2
        assert all(kept >= 1 for kept, _ in around.said)
        assert caplog.text.count("cannot be kept") == 1


async def test_what_cannot_be_done_is_told_and_the_machine_goes_on() -> None:
    around = Around()
    async with running(Durable(Membership.alone(Voter(ME))), around) as machine:
        await until(machine.drives)
        with pytest.raises(ValueError, match="cannot remove itself"):
            await machine.ask(lambda now: machine.election.change((), now))
        assert machine.drives()
