"""Addresses, and what a stranger may send."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st
from wyoming.audio import AudioChunk
from wyoming.error import Error
from wyoming.event import Event

from muleteer.errors import ConfigError
from muleteer.gateway.wyoming.wire import encode_event
from muleteer.voice.parts import RATE, PartGone
from muleteer.voice.wyoming.server import (
    LONGEST_REASON,
    LONGEST_WAIT,
    Address,
    Link,
    Listener,
    Patience,
    Server,
)
from tests.voice.wyoming.conftest import Client, serving


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("wyoming://kitchen:10300", Address("kitchen", 10300)),
        ("tcp://192.168.1.20:10200/", Address("192.168.1.20", 10200)),
        ("wyoming://[fe80::1]:10300", Address("fe80::1", 10300)),
        ("unix:///run/piper.sock", Address("", 0, "/run/piper.sock")),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert Address.parse(text) == address
    assert Address.parse(str(address)) == address


@given(st.text(alphabet="wyominguxtcp:/[]@.%0123 \n", max_size=40))
def test_whatever_is_read_is_an_address(text: str) -> None:
    with contextlib.suppress(ConfigError):
        address = Address.parse(text)
        assert address.path or (address.host and 0 < address.port < 65_536)


@pytest.mark.parametrize(
    "text", ["", "kitchen:10300", "http://a:1", "wyoming://a", "wyoming://a:99999", "wyoming://[a:1"]
)
def test_what_is_no_address_is_told_how_to_write_one(text: str) -> None:
    with pytest.raises(ConfigError, match="write it as wyoming://"):
        Address.parse(text)


def test_waiting_becomes_longer_up_to_a_limit_and_short_again() -> None:
    patience = Patience()
    waits = [patience.wait() for _ in range(12)]
    assert waits == sorted(waits)
    assert waits[0] < 1
    assert waits[-1] == LONGEST_WAIT
    patience.reset()
    assert patience.wait() == waits[0]


async def test_nobody_there_is_told_with_the_part_and_the_address() -> None:
    async with serving(_hang_up) as port:
        pass
    with pytest.raises(PartGone, match=rf"The voice at wyoming://127\.0\.0\.1:{port} cannot be reached"):
        await Server(f"wyoming://127.0.0.1:{port}", "voice").connect()


async def test_a_unix_socket(tmp_path: Path) -> None:
    with pytest.raises(PartGone, match="no such file"):
        await Server(f"unix://{tmp_path}/none", "voice").connect()


async def _hang_up(client: Client) -> None:
    pass


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"", "has hung up"),
        (b"\xff\xfe\n", "does not keep to Wyoming"),
        (b"[1]\n", "does not keep to Wyoming"),
        (
            json.dumps({"type": "audio-chunk", "payload_length": 1 << 30}).encode() + b"\n",
            "does not keep to Wyoming",
        ),
        (json.dumps({"type": "info", "data_length": 1 << 30}).encode() + b"\n", "does not keep to Wyoming"),
        (b"a" * (1 << 17) + b"\n", "does not keep to Wyoming"),
        (
            encode_event(Error("no\x1b[31m model\n here" + "e" * 10**4).event()),
            r"has failed \(no.*31m model here",
        ),
        (encode_event(Event("error", {"text": 5})), "has failed"),
    ],
)
async def test_what_is_wrong_is_said(sent: bytes, why: str) -> None:
    async def serve(client: Client) -> None:
        client.writer.write(sent)
        await client.writer.drain()

    async with serving(serve) as port, Server(f"wyoming://127.0.0.1:{port}", "voice").connected() as link:
        with pytest.raises(PartGone, match=why) as told:
            await link.next(10)
    assert len(str(told.value)) < LONGEST_REASON + 150
    assert str(told.value).isprintable()


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_sending_to_one_that_has_left_is_told_on_every_loop(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def send() -> None:
        async with (
            serving(_hang_up) as port,
            Server(f"wyoming://127.0.0.1:{port}", "satellite").connected() as link,
        ):
            with pytest.raises(PartGone, match="has hung up"):
                await link.next(10)
            for _ in range(50):
                with pytest.raises(PartGone, match="has hung up"):
                    await _until_gone(link)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(send())


async def _until_gone(link: Link) -> None:
    while True:
        await link.send(Event("ping"))
        await asyncio.sleep(0)


async def test_silence_has_an_end() -> None:
    async def serve(client: Client) -> None:
        await client.read()

    async with serving(serve) as port, Server(f"wyoming://127.0.0.1:{port}", "voice").connected() as link:
        with pytest.raises(PartGone, match="has not answered"):
            await link.next(0.05)


@pytest.mark.parametrize(
    ("rate", "width", "channels", "size"),
    [
        (0, 2, 1, 4),
        (10**9, 2, 1, 4),
        ("16000", 2, 1, 4),
        (16_000, 3, 1, 6),
        (16_000, 2, 0, 4),
        (16_000, 2, 1, 3),
    ],
)
def test_what_cannot_be_sound_is_refused(rate: object, width: object, channels: object, size: int) -> None:
    event = Event("audio-chunk", {"rate": rate, "width": width, "channels": channels}, bytes(size))
    with pytest.raises(PartGone, match="cannot be heard"):
        Listener(Server("wyoming://a:1", "voice")).sound(event)


NUMBER = st.one_of(
    st.integers(-2, 100_000), st.sampled_from([1, 2, 4, 16_000, 22_050, True, None, "2", 2.0, [1]])
)


@given(
    st.lists(st.tuples(NUMBER, NUMBER, NUMBER, st.binary(max_size=400)), max_size=5),
    st.sampled_from([0, RATE]),
)
def test_whatever_comes_is_sound_or_is_refused(
    chunks: list[tuple[object, object, object, bytes]], to: int
) -> None:
    listener = Listener(Server("wyoming://a:1", "voice"), to)
    for rate, width, channels, pcm in chunks:
        event = Event("audio-chunk", {"rate": rate, "width": width, "channels": channels}, pcm)
        with contextlib.suppress(PartGone):
            sound = listener.sound(event)
            assert sound.rate == (to or rate)
            assert len(sound.pcm) % 2 == 0
            assert len(sound.pcm) <= 2 * len(pcm) * max(1, sound.rate / 8000) + 64


def test_other_forms_of_sound_are_brought_to_one() -> None:
    listener = Listener(Server("wyoming://a:1", "satellite"), RATE)
    sound = listener.sound(AudioChunk(48_000, 4, 2, bytes(48_000 * 8)).event())
    assert sound.rate == RATE
    assert sound.seconds == pytest.approx(1, abs=0.01)


async def test_a_server_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muleteer.voice.wyoming.server.SEND_SECONDS", 0.1)
    leave = asyncio.Event()

    async def serve(client: Client) -> None:
        await leave.wait()

    async with (
        serving(serve) as port,
        Server(f"wyoming://127.0.0.1:{port}", "recogniser").connected() as link,
    ):
        with pytest.raises(PartGone, match="takes nothing more"):
            await link.send_sound(bytes(64 << 20))
        leave.set()
