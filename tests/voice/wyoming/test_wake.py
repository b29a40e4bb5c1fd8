"""A wake word heard elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from wyoming.event import Event
from wyoming.info import Describe
from wyoming.wake import Detect, Detection

from muleteer.voice.parts import FRAME_BYTES, PartGone
from muleteer.voice.wyoming.wake import WyomingWake
from tests.voice.wyoming.conftest import DEADLINE, Client, serving

QUIET, CALL = bytes(FRAME_BYTES), b"\1" * FRAME_BYTES


class Listener:
    """A server that knows one word: a chunk with anything in it."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.asked: list[Detect] = []
        self.die = asyncio.Event()

    async def __call__(self, client: Client) -> None:
        dying = asyncio.get_running_loop().create_task(self._end(client))
        try:
            while True:
                event = await client.read()
                if Describe.is_type(event.type):
                    await client.send(
                        Event("info", {"wake": [{"models": [{"name": name} for name in self.known]}]})
                    )
                elif Detect.is_type(event.type):
                    self.asked.append(Detect.from_event(event))
                elif event.payload and any(event.payload):
                    await client.send(Detection("hey_jarvis", event.data["timestamp"]).event())
        finally:
            dying.cancel()

    async def _end(self, client: Client) -> None:
        await self.die.wait()
        client.writer.transport.abort()


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def wake(listener: Listener) -> AsyncIterator[WyomingWake]:
    async with serving(listener) as port:
        made = WyomingWake(f"wyoming://127.0.0.1:{port}", ["hey_jarvis"])
        yield made
        await made.close()
        await made.close()


async def until(hears: Callable[[bytes], str], frame: bytes) -> str:
    """What is heard when this frame comes again and again."""
    async with asyncio.timeout(DEADLINE):
        while True:
            if name := hears(frame):
                return name
            await asyncio.sleep(0)


async def test_it_is_heard_there(listener: Listener, wake: WyomingWake) -> None:
    assert await until(wake.hears, CALL) == "hey_jarvis"
    assert listener.asked[0].names == ["hey_jarvis"]


async def test_one_call_is_told_once_however_often_the_server_says_it(wake: WyomingWake) -> None:
    await until(wake.hears, CALL)
    assert [name for _ in range(20) if (name := await _heard(wake, CALL))] == []
    for _ in range(60):
        await _heard(wake, QUIET)
    assert await until(wake.hears, CALL) == "hey_jarvis"


async def _heard(wake: WyomingWake, frame: bytes) -> str:
    name = wake.hears(frame)
    for _ in range(20):
        await asyncio.sleep(0)
    return name


async def test_after_a_reset_the_server_begins_anew_and_what_it_heard_before_counts_no_more(
    listener: Listener, wake: WyomingWake
) -> None:
    await until(wake.hears, CALL)
    for _ in range(8):
        wake.hears(CALL)
    wake.reset()
    wake.reset()
    for _ in range(40):
        assert wake.hears(QUIET) == ""
        await asyncio.sleep(0)
    assert await until(wake.hears, CALL) == "hey_jarvis"
    assert len(listener.asked) == 2


async def test_a_server_that_dies_is_gone_until_it_is_there_again(
    listener: Listener, wake: WyomingWake
) -> None:
    await until(wake.hears, CALL)
    wake.reset()
    listener.die.set()
    with pytest.raises(PartGone, match=r"The wake word at .* has hung up"):
        await until(wake.hears, QUIET)
    listener.die.clear()

    def patient(frame: bytes) -> str:
        try:
            return wake.hears(frame)
        except PartGone:
            return ""

    assert await until(patient, CALL) == "hey_jarvis"


async def test_nobody_there_is_told() -> None:
    async with serving(Listener()) as port:
        pass
    wake = WyomingWake(f"wyoming://127.0.0.1:{port}")
    with pytest.raises(PartGone, match="cannot be reached"):
        await until(wake.hears, QUIET)
    await wake.close()


async def test_a_word_is_asked_for_by_the_servers_own_name_for_it() -> None:
    listener = Listener("alexa_v0.1", "ok_nabu_v0.1")
    async with serving(listener) as port:
        wake = WyomingWake(f"wyoming://127.0.0.1:{port}", ["okay_nabu"])
        await until(wake.hears, CALL)
        await wake.close()
    assert listener.asked[0].names == ["ok_nabu_v0.1"]


async def test_a_word_that_the_server_has_not_is_told_with_those_it_has() -> None:
    async with serving(Listener("alexa_v0.1", "hey_rhasspy")) as port:
        wake = WyomingWake(f"wyoming://127.0.0.1:{port}", ["okay_nabu"])
        with pytest.raises(PartGone, match="does not know okay_nabu, but alexa, hey_rhasspy"):
            await until(wake.hears, QUIET)
        await wake.close()
