"""Clients that send nonsense, too much, too slowly or nothing at all: each harms itself alone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import ValidationError
from wyoming.event import Event
from wyoming.info import Describe
from wyoming.ping import Ping

from muleteer.gateway.wyoming.connection import AT_ONCE, Limits
from muleteer.gateway.wyoming.listening import MOST_FROM_ONE
from muleteer.gateway.wyoming.wire import LONGEST_DATA, LONGEST_LINE, LONGEST_PAYLOAD
from muleteer.settings.wyoming import WyomingSettings
from tests.gateway.scripted import DEADLINE, FINISHED, STARTED, RawClient, within
from tests.gateway.wyoming.conftest import Voice, gone, heard, say, serving

SHORT = Limits(idle=1.0, event=0.2, write=0.2)


@pytest.fixture
async def client(voice: Voice) -> AsyncIterator[RawClient]:
    """A client on which the test writes every byte itself."""
    client = RawClient(*await asyncio.open_connection("127.0.0.1", voice.listening.port))
    yield client
    client.writer.close()
    with contextlib.suppress(ConnectionError):
        await client.writer.wait_closed()


def line(**header: object) -> bytes:
    return json.dumps(header).encode() + b"\n"


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"\n", "not JSON"),
        (b"GET / HTTP/1.1\r\n\r\n", "not JSON"),
        (b"[" * 60_000 + b"\n", "not JSON"),
        (b"\xff\xfe\n", "not JSON"),
        (b"[]\n", "must be a JSON object"),
        (b"{}\n", 'needs a "type"'),
        (line(type=5), 'needs a "type"'),
        (line(type="x" * 65), 'needs a "type"'),
        (line(type="describe", data=[]), '"data" must be a JSON object'),
        (line(type="describe", data_length=-1), '"data_length" must be'),
        (line(type="describe", data_length=True), '"data_length" must be'),
        (line(type="describe", data_length="5"), '"data_length" must be'),
        (line(type="describe", data_length=1e3), '"data_length" must be'),
        (line(type="describe", data_length=LONGEST_DATA + 1), '"data_length" must be'),
        (line(type="describe", payload_length=LONGEST_PAYLOAD + 1), '"payload_length" must be'),
        (line(type="describe", data_length=2) + b"[]", "The data must be a JSON object"),
        (line(type="describe", data_length=2) + b"{{", "The data is not JSON"),
        (line(type="transcript"), 'needs a "text"'),
        (line(type="transcript", data={"text": 5}), 'needs a "text"'),
        (b"x" * (LONGEST_LINE + 2), "The header exceeds"),
    ],
)
async def test_what_is_no_event_is_told_and_ends_this_connection_alone(
    voice: Voice, client: RawClient, sent: bytes, said: str
) -> None:
    async with voice.tcp() as other:
        await client.send(sent)
        told = await client.rest()
        header, _, data = told.partition(b"\n")
        assert json.loads(header)["type"] == "error"
        assert said in json.loads(data)["text"]
        await say(other, "hello")


async def test_old_and_new_shapes_of_an_event_and_unknown_ones_are_taken(
    voice: Voice, client: RawClient
) -> None:
    payload = b"\0" * 64
    await client.send(line(type="audio-chunk", payload_length=64, data={"rate": 16000}) + payload)
    await client.send(line(type="no-such-event", version="9", more=1))
    await client.send(line(type="transcript", data={"text": "old"}))
    await client.until(b"handled-stop")
    data = json.dumps({"text": "new", "context": "none", "language": 5}).encode()
    await client.send(line(type="transcript", data_length=len(data)) + data)
    await client.until(b"handled-stop")
    assert [message for message, _ in voice.harness.asked] == ["old", "new"]


async def test_text_that_is_not_unicode_is_replaced(voice: Voice, client: RawClient) -> None:
    context = b'{"conversation_id": 5}'
    await client.send(b'{"type": "transcript", "data": {"text": "a\\ud800b", "context": %b}}\n' % context)
    await client.until(b"handled-stop")
    assert [message for message, _ in voice.harness.asked] == ["a?b"]


@pytest.mark.parametrize("limits", [SHORT])
async def test_the_silent_and_the_slow_are_cut_off_and_those_who_wait_are_not(
    voice: Voice, client: RawClient
) -> None:
    go_on = asyncio.Event()
    voice.harness.script = (STARTED, go_on, FINISHED)
    async with voice.tcp() as waiting, voice.tcp() as silent:
        saying = asyncio.create_task(say(waiting, "hello"))
        await within(voice.harness.waiting)
        await client.send(b'{"type": ')
        assert b"did not arrive within 0.2 seconds" in await client.rest()
        client.writer.close()
        await gone(silent)
        go_on.set()
        assert (await saying)[-2].data["text"] == FINISHED.answer


@pytest.mark.parametrize("limits", [SHORT])
async def test_who_does_not_read_is_cut_off(client: RawClient) -> None:
    ping = Ping("x" * 1000).event()
    data = json.dumps(ping.data).encode()
    whole = line(type="ping", data_length=len(data)) + data
    async with asyncio.timeout(DEADLINE):
        while not client.writer.is_closing():
            with contextlib.suppress(ConnectionError):
                await client.send(whole * 50)


async def test_a_flood_of_events_ends_the_connection(client: RawClient) -> None:
    await client.send(line(type="nothing") * int(AT_ONCE + 100))
    assert b"too many events" in await client.rest()


async def test_requests_wait_for_each_other_and_few_may(voice: Voice, client: RawClient) -> None:
    go_on = asyncio.Event()
    voice.harness.script = (STARTED, go_on, FINISHED)
    said = line(type="transcript", data={"text": "one"})
    await client.send(said)
    await within(voice.harness.waiting)
    await client.send(said * 4)
    go_on.set()
    for _ in range(5):
        await client.until(b"handled-stop")
    voice.harness.script = (STARTED, asyncio.Event(), FINISHED)
    await client.send(said * 6)
    assert b"Several requests wait already" in await client.rest()


async def test_the_oldest_that_is_idle_makes_room_and_nobody_who_is_answered(voice: Voice) -> None:
    go_on = asyncio.Event()
    voice.harness.script = (STARTED, go_on, FINISHED)
    async with voice.tcp() as answered:
        saying = asyncio.create_task(say(answered, "hello"))
        await within(voice.harness.waiting)
        clients = [voice.tcp() for _ in range(MOST_FROM_ONE)]
        for client in clients:
            await client.connect()
            await client.write_event(Describe().event())
            assert await heard(client) is not None
        await gone(clients[0])
        go_on.set()
        assert (await saying)[-1].type == "handled-stop"
        for client in clients:
            await client.disconnect()


async def test_the_unix_socket_has_the_gateways_mode_and_goes_with_the_daemon(folder: Path) -> None:
    async with serving(folder, Limits(), listen="off") as voice:
        assert stat.S_IMODE(os.stat(voice.path).st_mode) == 0o660
        assert voice.listening.port == voice.listening.lan_port == 0
        async with voice.unix() as client:
            await client.write_event(Describe().event())
            assert isinstance(await heard(client), Event)
    assert not voice.path.exists()


async def test_who_may_connect(folder: Path) -> None:
    """By address alone: Wyoming has no passwords."""
    async with serving(folder, Limits(), listen="lan") as voice:
        may = voice.listening._may
        assert voice.listening.lan_port == voice.listening.port > 0
        for host in ("127.0.0.1", "::1", "192.168.1.7", "10.1.2.3", "fe80::1%3", "fd00::7", "169.254.1.1"):
            assert may(host), host
        for host in ("8.8.8.8", "2a00:1450::1", "", "nonsense"):
            assert not may(host), host
    async with serving(folder, Limits(), listen="lan", allow=["192.168.1.7", "fd00::/64"]) as voice:
        assert [host for host in ("192.168.1.7", "fd00::9") if voice.listening._may(host)] == [
            "192.168.1.7",
            "fd00::9",
        ]
        assert not voice.listening._may("192.168.1.8")
        assert voice.listening._may("127.0.0.1")


@pytest.mark.parametrize("entry", ["kitchen", "192.168.1", "192.168.1.0/33", "", "10.0.0.1-10.0.0.9"])
def test_what_is_no_network_is_told(entry: str) -> None:
    with pytest.raises(ValidationError, match="must be an address or a network, as"):
        WyomingSettings.model_validate({"allow": [entry]})


async def test_the_port_is_the_same_after_a_restart_and_one_that_is_taken_is_said(folder: Path) -> None:
    async with serving(folder, Limits()) as voice:
        first = voice.listening.port
        report = voice.listening.report()
        assert (report["listen"], report["port"], report["problem"]) == ("loopback", first, "")
        async with serving(folder, Limits(), listen="off") as second:
            assert "Another daemon" in str(second.listening.report()["problem"])
    async with serving(folder, Limits()) as voice:
        assert voice.listening.port == first
