"""Microphone and speaker on a real sound server: what is played is heard, what is stopped is not, and what
vanishes is said to have."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncGenerator

import numpy as np
import pytest

from muleteer.voice.audio import devices
from muleteer.voice.audio.microphone import DeviceMicrophone
from muleteer.voice.audio.speaker import DeviceSpeaker
from muleteer.voice.parts import FRAME_BYTES, FRAME_SECONDS, PartGone, Sound

VOICE_RATE = 22_050
Server = subprocess.Popen[bytes]


def tone(seconds: float) -> Sound:
    wave = 8000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * VOICE_RATE)) / VOICE_RATE)
    return Sound(wave.astype("<i2").tobytes(), VOICE_RATE)


class Listener:
    """Counts what a microphone hears, in seconds; frames are taken as they come."""

    def __init__(self) -> None:
        self.loud = 0.0
        self.begun = asyncio.Event()
        self.loudly = asyncio.Event()
        self.microphone = DeviceMicrophone("of room")

    async def listen(self) -> None:
        async for frame in self.microphone.frames():
            assert len(frame) == FRAME_BYTES
            self.begun.set()
            if np.abs(np.frombuffer(frame, "<i2").astype(np.int32)).max() > 1000:
                self.loud += FRAME_SECONDS
                self.loudly.set()


async def test_what_is_played_is_heard_and_what_is_stopped_is_not(room: Server) -> None:
    listener, speaker = Listener(), DeviceSpeaker("Room")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(listener.listen())
        async with asyncio.timeout(10):
            await listener.begun.wait()
        began = time.monotonic()
        await speaker.play(tone(0.5))
        assert time.monotonic() - began > 0.45
        await speaker.play(tone(0.5))
        listener.loudly.clear()

        long = tasks.create_task(speaker.play(tone(30.0)))
        async with asyncio.timeout(10):
            await listener.loudly.wait()
        speaker.stop()
        async with asyncio.timeout(1):
            await long
        before = listener.loud
        await speaker.play(Sound(bytes(VOICE_RATE), VOICE_RATE))  # half a second of silence
        assert before > 0.5
        assert listener.loud - before < 0.2
        await speaker.close()
        await listener.microphone.close()


async def test_a_rate_of_its_own_is_played_at_that_rate(room: Server) -> None:
    speaker = DeviceSpeaker()
    for rate in (8_000, 24_000):
        began = time.monotonic()
        await speaker.play(Sound(bytes(rate), rate))
        assert 0.45 < time.monotonic() - began < 5
    speaker.stop()
    await speaker.close()
    await speaker.close()


async def test_what_vanishes_is_said_to_have_and_nothing_else_is(
    room: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    listener, speaker = Listener(), DeviceSpeaker()
    listening = asyncio.create_task(listener.listen())
    async with asyncio.timeout(10):
        await listener.begun.wait()
    playing = asyncio.create_task(speaker.play(tone(30.0)))
    async with asyncio.timeout(10):
        await listener.loudly.wait()
    room.kill()
    async with asyncio.timeout(10):
        with pytest.raises(PartGone, match="microphone 'of room' is gone"):
            await listening
        with pytest.raises(PartGone, match="speaker is gone; plug it in again"):
            await playing
        with pytest.raises(PartGone, match="No speaker can be used"):
            await speaker.play(tone(0.1))
        with pytest.raises(PartGone, match="There is no microphone: no sound system answers"):
            devices.names("microphone")
    await speaker.close()
    assert "ALSA" not in capfd.readouterr().err


async def test_what_is_given_up_while_it_is_opened_is_closed_again(room: Server) -> None:
    for _ in range(3):
        microphone = Listener()
        opening = asyncio.create_task(microphone.listen())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait({opening})
    await asyncio.get_running_loop().shutdown_default_executor()  # so that all three have been opened
    async with asyncio.timeout(10):
        while len((await recording()).splitlines()) > 1:  # who listens in the room is one
            pass


async def recording() -> bytes:
    """A line for each program that records."""
    pactl = await asyncio.create_subprocess_exec(
        *("pactl", "list", "short", "source-outputs"), stdout=asyncio.subprocess.PIPE
    )
    told, _ = await pactl.communicate()
    return told


async def test_a_name_that_is_none_names_those_there_are(room: Server) -> None:
    frames = DeviceMicrophone("headset").frames()
    assert isinstance(frames, AsyncGenerator)
    with pytest.raises(PartGone, match=r"no microphone called headset.*Monitor of Room"):
        await anext(frames)
    assert devices.names("speaker") == ["Room"]
