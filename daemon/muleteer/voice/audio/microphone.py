"""The microphone of this board: what the library hands over in its own thread, as frames on the loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Generator
from typing import Any

from muleteer.voice.audio import devices
from muleteer.voice.parts import FRAME_BYTES, RATE

PERIOD_MS = 20
MOST_HELD = 500  # frames: ten seconds that nobody took, of which the oldest are lost


class DeviceMicrophone:
    """A `Microphone`. `name` is part of a device's name; empty: the system's default. Opened by `frames`."""

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._held: deque[bytes] = deque(maxlen=MOST_HELD)
        self._came = asyncio.Event()
        self._closing = False

    async def frames(self) -> AsyncIterator[bytes]:
        """As `Microphone` has it; what was heard before it is asked for is not told."""
        self._held.clear()
        device = await devices.opened("microphone", self._name, self._started(asyncio.get_running_loop()))
        rest, patience = b"", devices.FIRST_SECONDS
        try:
            while not self._closing:
                rest += await self._next(patience)
                patience = devices.SILENCE_SECONDS
                while len(rest) >= FRAME_BYTES:
                    frame, rest = rest[:FRAME_BYTES], rest[FRAME_BYTES:]
                    yield frame
        finally:
            await devices.closed(device)

    async def close(self) -> None:
        """Ends `frames`."""
        self._closing = True
        self._came.set()

    async def _next(self, patience: float) -> bytes:
        """Raises `PartGone` when nothing comes any more."""
        while not self._held:
            if self._closing:
                return b""
            self._came.clear()
            try:
                async with asyncio.timeout(patience):
                    await self._came.wait()
            except TimeoutError:
                raise devices.gone("microphone", self._name) from None
        return self._held.popleft()

    def _started(self, loop: asyncio.AbstractEventLoop) -> Any:
        def take(pcm: bytes) -> None:
            self._held.append(pcm)
            self._came.set()

        def taking() -> Generator[None, bytearray, None]:
            while True:
                pcm = yield
                if not loop.is_closed():
                    loop.call_soon_threadsafe(take, bytes(pcm))

        def make(chosen: Any) -> Any:
            import miniaudio

            device = miniaudio.CaptureDevice(
                miniaudio.SampleFormat.SIGNED16, 1, RATE, PERIOD_MS, chosen, backends=devices.backends()
            )
            receiver = taking()
            next(receiver)
            device.start(receiver)
            return device

        return make
