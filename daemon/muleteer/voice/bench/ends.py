"""The ends of a conversation without people: a microphone of recordings, a speaker that keeps what it plays.

Knows the protocols of parts; nothing of who listens. Both can vanish, as hardware does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from muleteer.voice.parts import FRAME_BYTES, FRAME_SECONDS, PartGone, Sound

QUIET = bytes(FRAME_BYTES)


class FileMicrophone:
    """What is `put` into it is heard once, silence before and after, until it is closed.

    In `real_time` a frame comes every 20 ms by the clock, and one that nobody took in time comes late, not
    never. Otherwise as fast as it is read: then silence alone does not come, so that a listener waits.
    """

    def __init__(self, *, real_time: bool = True) -> None:
        self._real_time = real_time
        self._left = bytearray()
        self._changed = asyncio.Event()
        self._closed = self._gone = False
        self._heard_out = asyncio.Event()
        self._heard_out.set()
        self.spoke = 0.0
        """When (`time.monotonic`) the last frame that was not silent was taken."""

    def put(self, pcm: bytes) -> None:
        """Whole frames, heard after what is still to be heard."""
        if len(pcm) % FRAME_BYTES:
            raise ValueError(f"{len(pcm)} bytes are no whole frames of {FRAME_BYTES}")
        self._left += pcm
        self._heard_out.clear()
        self._changed.set()

    async def heard_out(self) -> None:
        """Until all that was put has been taken."""
        await self._heard_out.wait()

    def vanish(self) -> None:
        """Unplugged: whoever listens is told so."""
        self._gone = True
        self._changed.set()

    def come_back(self) -> None:
        """Plugged in again."""
        self._gone = False

    async def frames(self) -> AsyncIterator[bytes]:
        due = time.monotonic()
        while not self._closed:
            if self._gone:
                raise PartGone("The microphone was unplugged. Plug it in again.")
            if self._real_time:
                due = max(due + FRAME_SECONDS, time.monotonic() - 1.0)  # a sleeper is not flooded
                await asyncio.sleep(due - time.monotonic())
            elif not self._left:
                self._changed.clear()
                await self._changed.wait()
                continue
            yield self._next()

    async def close(self) -> None:
        self._closed = True
        self._changed.set()

    def _next(self) -> bytes:
        if not self._left:
            return QUIET
        frame = bytes(self._left[:FRAME_BYTES])
        del self._left[:FRAME_BYTES]
        if frame != QUIET:
            self.spoke = time.monotonic()
        if not self._left:
            self._heard_out.set()
        return frame


@dataclass
class Played:
    """`sound` began at `began` (`time.monotonic`); `seconds` of it were heard before it was stopped."""

    sound: Sound
    began: float
    seconds: float = 0.0


class RecordedSpeaker:
    """Keeps what was played. In `real_time` a sound takes as long as it is, or until stopped; otherwise it
    is heard out at once."""

    def __init__(self, *, real_time: bool = True) -> None:
        self._real_time = real_time
        self._stop = asyncio.Event()
        self._begun = asyncio.Event()
        self._gone = False
        self.played: list[Played] = []

    async def play(self, sound: Sound) -> None:
        if self._gone:
            raise PartGone("The speaker was unplugged. Plug it in again.")
        one = Played(sound, time.monotonic())
        self.played.append(one)
        self._begun.set()
        self._stop.clear()
        if self._real_time:
            try:
                async with asyncio.timeout(sound.seconds):  # `wait_for` loses a cancel that comes with a stop
                    await self._stop.wait()
            except TimeoutError:
                one.seconds = sound.seconds
            else:
                one.seconds = min(sound.seconds, time.monotonic() - one.began)
        else:
            await asyncio.sleep(0)
            one.seconds = sound.seconds
        if self._gone:
            raise PartGone("The speaker was unplugged. Plug it in again.")

    def stop(self) -> None:
        self._stop.set()

    async def begun(self) -> Played:
        """The first sound that is played from now on."""
        count = len(self.played)
        while len(self.played) == count:
            self._begun.clear()
            await self._begun.wait()
        return self.played[count]

    def vanish(self) -> None:
        """Unplugged, also in the middle of a sound."""
        self._gone = True
        self._stop.set()

    def come_back(self) -> None:
        """Plugged in again."""
        self._gone = False

    async def close(self) -> None:
        self._stop.set()
