"""The speaker of this board: what is to be heard is asked for by the library in its own thread, bit by bit.

The device stays open for a while after each sound, since opening it takes longer than the pause between two
sentences; then it is closed, so that others may have it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Generator
from typing import Any

from muleteer.voice.audio import devices
from muleteer.voice.parts import SAMPLE_BYTES, Sound

PERIOD_MS, PERIODS = 10, 3  # what is on its way cannot be called back: 30 ms
ON_THE_WAY = PERIOD_MS * PERIODS / 1000
LOOK_SECONDS = 0.2  # between two looks at whether the device still asks
LINGER_SECONDS = 5.0  # with the device open and silent


class DeviceSpeaker:
    """A `Speaker`. `name` is part of a device's name; empty: the system's default. Opened by `play`."""

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._device: Any = None
        self._rate = 0
        self._turn = asyncio.Lock()
        self._lock = threading.Lock()  # of what the library's thread sees
        self._pcm = memoryview(b"")
        self._over: asyncio.Event | None = None
        self._asked_at = 0.0  # by the clock of time.monotonic
        self._closer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def play(self, sound: Sound) -> None:
        """As `Speaker` has it; one sound after the other."""
        async with self._turn:
            if self._closer is not None:
                self._closer.cancel()
            await self._open(sound.rate)
            over = asyncio.Event()
            with self._lock:
                self._pcm, self._over = memoryview(sound.pcm), over
            try:
                await self._heard_out(over)
            finally:
                self.stop()
                loop = asyncio.get_running_loop()
                self._closer = loop.call_later(LINGER_SECONDS, self._rest)

    def stop(self) -> None:
        """As `Speaker` has it."""
        with self._lock:
            self._pcm = memoryview(b"")
            if self._over is not None:
                self._over.set()
            self._over = None

    async def close(self) -> None:
        """Idempotent."""
        self.stop()
        if self._closer is not None:
            self._closer.cancel()
        async with self._turn:
            await self._close()

    async def _heard_out(self, over: asyncio.Event) -> None:
        """Raises `PartGone` when the device asks for nothing any more."""
        while not over.is_set():
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await over.wait()
            except TimeoutError:
                if time.monotonic() > self._asked_at + devices.SILENCE_SECONDS:
                    await self._close()
                    raise devices.gone("speaker", self._name) from None
        if self._over is over:  # nobody stopped it, and the end of it is still on its way
            await asyncio.sleep(ON_THE_WAY)

    async def _open(self, rate: int) -> None:
        if self._device is not None and self._rate != rate:
            await self._close()
        if self._device is None:
            loop = asyncio.get_running_loop()
            self._device = await devices.opened(
                "speaker", self._name, lambda chosen: self._made(chosen, rate, loop)
            )
            self._rate = rate
            self._asked_at = time.monotonic() + devices.FIRST_SECONDS

    async def _close(self) -> None:
        device, self._device = self._device, None
        if device is not None:
            await devices.closed(device)

    def _rest(self) -> None:
        if not self._turn.locked():
            task = asyncio.get_running_loop().create_task(self.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _made(self, chosen: Any, rate: int, loop: asyncio.AbstractEventLoop) -> Any:
        import miniaudio

        device = miniaudio.PlaybackDevice(
            *(miniaudio.SampleFormat.SIGNED16, 1, rate, PERIOD_MS, chosen, PERIODS),
            backends=devices.backends(),
        )
        giver = self._giving(loop)
        next(giver)
        device.start(giver)
        return device

    def _giving(self, loop: asyncio.AbstractEventLoop) -> Generator[bytes, int, None]:
        """What the device asks for, in the library's thread; silence where there is nothing."""
        samples = yield b""
        while True:
            size = samples * SAMPLE_BYTES
            with self._lock:
                self._asked_at = time.monotonic()
                part, self._pcm = self._pcm[:size], self._pcm[size:]
                if not self._pcm and self._over is not None and not loop.is_closed():
                    loop.call_soon_threadsafe(self._over.set)
            samples = yield bytes(part).ljust(size, b"\0")
