"""Heartbeats as datagrams between real sockets: used where they come through, left where they do not, and
nobody else's business."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from muleteer.seat.beats import COUNT, ID, Beats
from muleteer.seat.link import BURST, Address, Link
from muleteer.seat.wire import BadFrameError


@dataclass
class End:
    """One end of a connection, and what has come to it by datagram."""

    link: Link
    beats: Beats = field(init=False)
    come: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)

    def __post_init__(self) -> None:
        self.beats = Beats(lambda _, content: self.come.put_nowait(content))

    def send(self, content: bytes) -> bool:
        return self.beats.send(self.link, content)

    async def hears(self) -> bytes:
        return await asyncio.wait_for(self.come.get(), 10)


def port(beats: Beats) -> int:
    return int(beats._socket.getsockname()[1]) if beats._socket else 0


@pytest.fixture
async def ends() -> AsyncIterator[tuple[End, End]]:
    """Connected, and each invited by the other."""
    accepted: asyncio.Queue[tuple[Any, Any]] = asyncio.Queue()
    server = await asyncio.start_server(lambda *streams: accepted.put_nowait(streams), "127.0.0.1", 0)
    dialed = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    streams = await accepted.get()
    one = End(Link("two", Address("127.0.0.1", 0), True, *dialed))
    two = End(Link("one", Address("127.0.0.1", 0), False, *streams))
    for each in (one, two):
        each.beats.open(0)
    invitations = one.beats.invite(one.link), two.beats.invite(two.link)
    two.beats.invited(two.link, invitations[0])
    one.beats.invited(one.link, invitations[1])
    yield one, two
    for each in (one, two):
        each.beats.close()
        each.link.cut("the test is over")
    server.close()


async def test_once_they_come_through_a_datagram_is_all_that_is_sent(ends: tuple[End, End]) -> None:
    one, two = ends
    assert not one.send(b"beat 1"), "nobody knows yet whether it arrives"
    assert await two.hears() == b"beat 1"
    assert two.send(b"answer 1")
    assert await one.hears() == b"answer 1"
    for number in range(2, 20):
        assert one.send(b"beat %d" % number)
        assert await two.hears() == b"beat %d" % number
        assert two.send(b"answer %d" % number)
        assert await one.hears() == b"answer %d" % number


async def test_one_without_an_answer_is_repeated_over_the_connection(ends: tuple[End, End]) -> None:
    one, two = ends
    one.send(b"beat")
    await two.hears()
    two.send(b"answer")
    await one.hears()
    two.beats.close()  # as a firewall that is switched on
    assert one.send(b"beat")
    assert not one.send(b"the same again")


async def test_where_none_comes_through_they_are_tried_now_and_then(
    ends: tuple[End, End], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = ends
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)
    for _ in range(5):
        assert not one.send(b"probe")
    assert await two.hears() == b"probe"
    assert two.come.empty()
    now += 11
    assert not one.send(b"probe again")
    assert await two.hears() == b"probe again"


async def test_what_was_recorded_altered_or_made_up_is_ignored(ends: tuple[End, End]) -> None:
    one, two = ends
    recorder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with recorder:
        recorder.bind(("127.0.0.1", 0))
        recorder.settimeout(10)
        way = next(iter(one.beats._ways.values()))
        there, way.place = way.place, ("::ffff:127.0.0.1", recorder.getsockname()[1], 0, 0)
        one.send(b"recorded")
        datagram = recorder.recv(512)
        way.place, place = there, ("127.0.0.1", port(two.beats))
        for byte in (0, ID, ID + COUNT, len(datagram) - 1):
            recorder.sendto(datagram[:byte] + bytes([datagram[byte] ^ 1]) + datagram[byte + 1 :], place)
        for bad in (b"", b"x", datagram[:ID], datagram[: ID + COUNT], datagram[:-1], bytes(2000)):
            recorder.sendto(bad, place)
        recorder.sendto(datagram, place)
        assert await two.hears() == b"recorded"
        recorder.sendto(datagram, place)
        way.silent = False
        assert one.send(b"the next")
        assert await two.hears() == b"the next", "and nothing before it"


async def test_a_peer_that_sends_without_end_is_not_listened_to(ends: tuple[End, End]) -> None:
    one, two = ends
    way = next(iter(one.beats._ways.values()))
    for _ in range(int(BURST) + 200):
        way.silent = False
        one.send(b"flood")
        await asyncio.sleep(0)
    way.silent = False
    assert 100 < two.come.qsize() <= BURST + 100


async def test_the_keys_end_with_the_connection(ends: tuple[End, End]) -> None:
    one, two = ends
    one.send(b"beat")
    await two.hears()
    two.beats.drop(two.link)
    assert not two.send(b"answer")
    one.beats.drop(one.link)
    assert not one.send(b"beat")


async def test_a_port_that_is_taken_costs_nothing_but_bytes(
    ends: tuple[End, End], caplog: pytest.LogCaptureFixture
) -> None:
    one, two = ends
    with caplog.at_level(logging.WARNING):
        other = Beats(lambda *_: None)
        other.open(port(one.beats))
    assert "No datagrams at port" in caplog.text
    other.invite(two.link)
    other.invited(two.link, one.beats.invite(one.link))
    assert not other.send(two.link, b"beat")
    other.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"id": 7}, {"id": "zz"}, {"id": "00"}, {"key": "00" * 31}, {"key": None}, {"port": -1},
        {"port": 65536}, {"port": "x"},
    ],
)  # fmt: skip
async def test_a_wrong_invitation_is_an_error(ends: tuple[End, End], wrong: dict[str, object]) -> None:
    one, two = ends
    body = two.beats.invite(two.link) | wrong if wrong else {"k": "beat"}
    with pytest.raises(BadFrameError):
        one.beats.invited(one.link, body)
