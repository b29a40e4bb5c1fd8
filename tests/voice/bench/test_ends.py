from __future__ import annotations

import asyncio
import time

import pytest

from muleteer.voice.bench.ends import QUIET, FileMicrophone, RecordedSpeaker
from muleteer.voice.parts import FRAME_BYTES, RATE, PartGone, Sound

SPEECH = bytes([1, 0]) * (FRAME_BYTES // 2)
SECOND = Sound(bytes(2 * RATE), RATE)


async def test_a_recording_is_heard_once_between_silence() -> None:
    microphone = FileMicrophone()
    frames = microphone.frames()
    assert await anext(frames) == QUIET
    microphone.put(SPEECH * 2 + QUIET)
    assert [await anext(frames) for _ in range(2)] == [SPEECH, SPEECH]
    spoke = microphone.spoke
    assert 0 < spoke <= time.monotonic()
    assert [await anext(frames) for _ in range(2)] == [QUIET, QUIET]
    await microphone.heard_out()
    assert microphone.spoke == spoke, "silence is not spoken"
    await microphone.close()
    with pytest.raises(StopAsyncIteration):
        await anext(frames)


async def test_in_real_time_a_second_takes_a_second() -> None:
    microphone = FileMicrophone()
    began = time.monotonic()
    frames = microphone.frames()
    for _ in range(10):
        await anext(frames)
    assert time.monotonic() - began >= 0.19


async def test_read_fast_it_waits_for_what_is_put() -> None:
    microphone = FileMicrophone(real_time=False)
    frames = microphone.frames()
    waiting = asyncio.ensure_future(anext(frames))
    await asyncio.sleep(0)
    microphone.put(SPEECH)
    assert await waiting == SPEECH
    with pytest.raises(ValueError, match="no whole frames"):
        microphone.put(b"123")


async def test_an_unplugged_microphone_says_so() -> None:
    microphone = FileMicrophone(real_time=False)
    waiting = asyncio.ensure_future(anext(microphone.frames()))
    await asyncio.sleep(0)
    microphone.vanish()
    with pytest.raises(PartGone, match="microphone was unplugged"):
        await waiting


async def test_a_speaker_that_is_stopped_knows_how_much_was_heard() -> None:
    speaker = RecordedSpeaker()
    playing = asyncio.create_task(speaker.play(SECOND))
    one = await speaker.begun()
    speaker.stop()
    await playing
    assert one.seconds < 1.0
    await RecordedSpeaker(real_time=False).play(SECOND)


async def test_a_speaker_that_vanishes_ends_the_sound_and_comes_back() -> None:
    speaker = RecordedSpeaker()
    playing = asyncio.create_task(speaker.play(SECOND))
    await speaker.begun()
    speaker.vanish()
    with pytest.raises(PartGone, match="speaker was unplugged"):
        await playing
    with pytest.raises(PartGone):
        await speaker.play(SECOND)
    speaker.come_back()
    await speaker.play(Sound(bytes(64), RATE))


async def test_who_stops_it_and_is_cancelled_at_once_is_cancelled() -> None:
    """As a conversation does that is interrupted."""
    speaker = RecordedSpeaker()
    playing = asyncio.create_task(speaker.play(SECOND))
    await speaker.begun()
    await asyncio.sleep(0)
    speaker.stop()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
