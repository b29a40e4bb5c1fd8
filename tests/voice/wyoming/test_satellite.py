"""A microphone and a speaker elsewhere, as wyoming-satellite lends them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from wyoming.audio import AudioChunk
from wyoming.event import Event
from wyoming.ping import Ping
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.wake import Detection

from muleteer.voice.parts import FRAME_BYTES, RATE, PartGone, Sound
from muleteer.voice.wyoming.satellite import Satellite
from tests.voice.wyoming.conftest import DEADLINE, Client, serving

HEARD = bytes(range(1, 201)) * 32  # ten frames


class Board:
    """A satellite. What it does when it is told to run is `begin`; `got` is what it was sent."""

    def __init__(self, *begin: Event) -> None:
        self.begin = begin
        self.got: asyncio.Queue[Event] = asyncio.Queue()
        self.client: Client | None = None
        self.kinds: list[str] = []  # of the streams it was sent: where they begin and end

    async def __call__(self, client: Client) -> None:
        self.client = client
        await client.until("run-satellite")
        await client.send(*self.begin)
        while True:
            self.got.put_nowait(event := await client.read())
            self.kinds += [event.type] if event.type in ("audio-start", "audio-stop") else []

    async def next(self, kind: str) -> Event:
        async with asyncio.timeout(DEADLINE):
            while (event := await self.got.get()).type != kind:
                pass
        return event


def pipeline(stage: PipelineStage) -> Event:
    return RunPipeline(stage, PipelineStage.TTS).event()


def chunk(pcm: bytes) -> Event:
    return AudioChunk(RATE, 2, 1, pcm).event()


async def some(frames: AsyncIterator[bytes], many: int) -> list[bytes]:
    async with asyncio.timeout(DEADLINE):
        return [await anext(frames) for _ in range(many)]


async def test_its_sound_comes_as_frames_whatever_it_was_sent_in() -> None:
    board = Board(pipeline(PipelineStage.WAKE), chunk(HEARD[:1000]), chunk(HEARD[1000:]), Ping("a").event())
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}", wake=Word())
        frames = aiter(satellite.frames())
        heard = await some(frames, 10)
        assert b"".join(heard) == HEARD
        assert {len(frame) for frame in heard} == {FRAME_BYTES}
        assert satellite.wake.hears(heard[0]) == "here"
        await board.next("pong")
        await satellite.close()
        await board.next("pause-satellite")


class Word:
    """The board's own wake word, which is in every frame."""

    def hears(self, frame: bytes) -> str:
        return "here"

    def reset(self) -> None:
        pass

    async def close(self) -> None:
        pass


async def test_one_with_a_wake_word_of_its_own_calls_and_is_told_when_that_is_over() -> None:
    board = Board(Detection("alexa").event(), pipeline(PipelineStage.ASR), chunk(HEARD))
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}", wake=Word())
        frames = aiter(satellite.frames())
        (frame,) = await some(frames, 1)
        assert satellite.wake.hears(frame) == "alexa"
        assert satellite.wake.hears(frame) == ""
        satellite.wake.reset()
        await board.next("transcript")
        await satellite.wake.close()
        await satellite.close()


async def test_what_is_played_is_sent_as_fast_as_it_is_heard() -> None:
    board = Board(chunk(HEARD))
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}")
        frames = aiter(satellite.frames())
        await some(frames, 1)
        pcm = bytes(range(250)) * 176 + bytes(100)
        begun = asyncio.get_running_loop().time()
        await satellite.play(Sound(pcm[:22_050], 22_050))
        assert asyncio.get_running_loop().time() - begun > 0.4
        played = b""
        await board.next("audio-start")
        while (event := await board.got.get()).type == "audio-chunk":
            played += event.payload or b""
        assert played == pcm[:22_050]
        assert event.type == "audio-stop"
        await satellite.close()


async def test_sounds_that_follow_one_another_are_one_stream() -> None:
    board = Board(chunk(HEARD))
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}")
        frames = aiter(satellite.frames())
        await some(frames, 1)
        for rate in (RATE, RATE, 8000):
            await satellite.play(Sound(bytes(rate // 10), rate))
        await satellite.close()
        await board.next("pause-satellite")
    assert board.kinds == ["audio-start", "audio-stop", "audio-start", "audio-stop"]


async def test_who_is_interrupted_ends_the_stream() -> None:
    board = Board(chunk(HEARD))
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}")
        frames = aiter(satellite.frames())
        await some(frames, 1)
        playing = asyncio.create_task(satellite.play(Sound(bytes(RATE * 20), RATE)))
        await board.next("audio-chunk")
        playing.cancel()
        await board.next("audio-stop")
        await satellite.close()


async def test_a_stop_is_a_stop() -> None:
    board = Board(chunk(HEARD))
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}")
        frames = aiter(satellite.frames())
        await some(frames, 1)
        playing = asyncio.create_task(satellite.play(Sound(bytes(22_050 * 2 * 60), 22_050)))
        await board.next("audio-chunk")
        satellite.stop()
        async with asyncio.timeout(DEADLINE):
            await playing
        await board.next("audio-stop")
        await satellite.close()


async def test_one_that_vanishes_is_gone_and_is_found_again() -> None:
    board = Board(chunk(HEARD[:FRAME_BYTES]))
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}")
        frames = aiter(satellite.frames())
        await some(frames, 1)
        assert board.client is not None
        board.client.writer.transport.abort()
        with pytest.raises(PartGone, match="The satellite at"):
            await some(frames, 1)
        with pytest.raises(PartGone, match="is not connected"):
            await satellite.play(Sound(bytes(100), RATE))
        assert len(await some(aiter(satellite.frames()), 1)) == 1
        await satellite.close()


async def test_who_does_not_listen_for_long_hears_the_newest() -> None:
    board = Board(*(chunk(bytes([place]) * FRAME_BYTES) for place in range(200)), Ping("a").event())
    async with serving(board) as port:
        satellite = Satellite(f"wyoming://127.0.0.1:{port}")
        frames = aiter(satellite.frames())
        await some(frames, 1)
        await board.next("pong")
        rest = await some(frames, 100)
        assert rest[-1] == bytes([199]) * FRAME_BYTES
        await satellite.close()
