"""TLS over a socket that is given up on the way: at whichever moment, nothing stays open."""

from __future__ import annotations

import asyncio
import itertools
import socket
from pathlib import Path

import pytest

from muleteer.seat.identity import load_identity
from muleteer.seat.secured import secured
from muleteer.seat.trust import contexts, joining_context
from tests.seat.neighbours import until


@pytest.mark.parametrize("accepted", [True, False])
async def test_whoever_gives_up_in_the_middle_of_a_handshake_leaves_nothing_open(
    tmp_path: Path, accepted: bool
) -> None:
    accept = contexts(load_identity(tmp_path), None).accept
    for steps in itertools.count(1):  # both have begun
        ends = socket.socketpair()
        for end in ends:
            end.setblocking(False)
        both = [
            asyncio.create_task(secured(ends[0], accept, 5.0, accepted=True)),
            asyncio.create_task(secured(ends[1], joining_context(), 5.0, accepted=False)),
        ]
        given_up, other = both if accepted else reversed(both)
        for _ in range(steps):
            await asyncio.sleep(0)
        over = given_up.done()
        given_up.cancel()
        for each in await asyncio.gather(given_up, other, return_exceptions=True):
            if isinstance(each, tuple):
                each[1].transport.abort()
        async with asyncio.timeout(5.0):  # TLS itself would wait for half a minute
            await until(lambda: all(end.fileno() == -1 for end in ends))  # noqa: B023
        if over:
            break
    assert steps > 2
