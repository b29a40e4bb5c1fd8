"""Accepting: each connection arrives, also after there were no descriptors; nothing after the end."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from muleteer import accepting
from muleteer.accepting import Accepting

SECONDS = 20.0  # a test that waits for longer has failed


class House(logging.Handler):
    """Listens at two addresses; hears who came, and that somebody could not be accepted."""

    def __init__(self) -> None:
        super().__init__()
        self.came = asyncio.Queue[tuple[socket.socket, str]]()
        self.refused = asyncio.Queue[float]()
        self.accepting = Accepting(lambda sock, host: self.came.put_nowait((sock, host)))
        self.listening = [
            socket.create_server(("127.0.0.1", 0)),
            socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True),
        ]
        for sock in self.listening:
            sock.setblocking(False)
            self.accepting.listen(sock)

    def emit(self, record: logging.LogRecord) -> None:
        self.refused.put_nowait(asyncio.get_running_loop().time())

    def call(self, number: int) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.listening[number].getsockname()[1]))

    async def next(self) -> str:
        """The address of who comes next."""
        async with asyncio.timeout(SECONDS):
            sock, host = await self.came.get()
        with sock:
            assert not sock.getblocking()
        return host

    async def next_refused(self) -> float:
        async with asyncio.timeout(SECONDS):
            return await self.refused.get()


@pytest.fixture
async def house(caplog: pytest.LogCaptureFixture) -> AsyncIterator[House]:
    log = logging.getLogger(accepting.__name__)
    caplog.set_level(logging.DEBUG, accepting.__name__)
    made = House()
    log.addHandler(made)
    yield made
    log.removeHandler(made)
    made.accepting.close()


@contextmanager
def no_descriptors() -> Iterator[None]:
    """This process can open no file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_each_comes_from_every_socket_with_its_address(house: House) -> None:
    with house.call(0), house.call(1), house.call(1):
        assert [await house.next() for _ in range(3)] == ["127.0.0.1"] * 3


async def test_without_descriptors_it_rests_and_then_goes_on(house: House) -> None:
    with house.call(0):
        with no_descriptors():
            times = [await house.next_refused() for _ in range(3)]
            assert house.came.empty()
        assert times[2] - times[0] > accepting.REST_SECONDS, "it went on trying without a rest"
        assert await house.next() == "127.0.0.1"


async def test_nothing_comes_after_the_end_not_even_after_a_rest(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting, "REST_SECONDS", 0.0)
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context))
    with house.call(0):
        with no_descriptors():
            await house.next_refused()
            house.accepting.close()
        house.accepting.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert house.came.empty()
        assert faults == []
        assert all(sock.fileno() == -1 for sock in house.listening)
