"""A wake word that another program's Wyoming server hears in the frames it is sent, such as
wyoming-openwakeword. Knows the events of detection, and how to hold a connection open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.wake import Detect, Detection

from muleteer.voice.parts import FRAME_SECONDS, RATE, SAMPLE_BYTES, PartGone
from muleteer.voice.wyoming.server import Link, Patience, Server

log = logging.getLogger(__name__)

CHUNK_FRAMES = 4  # 80 ms, which is what openWakeWord looks at
MOST_FRAMES = 100  # 2 s that a slow server may be behind; a word that old is no call any more
LONGEST_NAME = 64  # characters of a word's name
CHUNK_SECONDS = CHUNK_FRAMES * FRAME_SECONDS
_FORM = {"rate": RATE, "width": SAMPLE_BYTES, "channels": 1}


class WyomingWake:
    """A `WakeWord`. `words`: names to listen for; none: all that the server knows. It connects with the first
    frame. While there is no connection `hears` raises PartGone, and another is tried, less and less often."""

    def __init__(self, address: str, words: Sequence[str] = ()) -> None:
        self._server, self._words = Server(address, "wake word"), list(words)
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_FRAMES)  # None: begin anew
        self._heard = ""
        self._gone: PartGone | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_listened = False  # something of what is being heard has gone to the server, or will

    def hears(self, frame: bytes) -> str:
        """As `WakeWord` has it; the server takes its time, so the word ended some frames ago."""
        if not self._task:
            self._task = asyncio.get_running_loop().create_task(self._keep(), name="wake word")
        if self._gone:
            raise self._gone
        self._put(frame)
        heard, self._heard = self._heard, ""
        return heard

    def reset(self) -> None:
        """Forget what was heard so far."""
        while not self._frames.empty():
            self._frames.get_nowait()
        self._heard = ""
        if self._is_listened:
            self._put(None)

    def _put(self, frame: bytes | None) -> None:
        """The oldest goes where there is no room."""
        if self._frames.full():
            self._frames.get_nowait()
        self._frames.put_nowait(frame)
        self._is_listened = frame is not None

    async def _keep(self) -> None:
        """A connection, again and again."""
        patience = Patience()
        while True:
            try:
                async with self._server.connected() as link:
                    await self._begin(link)
                    self._gone = None
                    patience.reset()
                    await self._listen(link)
            except PartGone as error:
                if not self._gone:
                    log.warning("%s", error)
                self._gone, self._heard = error, ""
            await asyncio.sleep(patience.wait())

    async def _listen(self, link: Link) -> None:
        async with asyncio.TaskGroup() as both:
            sending = both.create_task(self._send(link))
            try:
                while True:
                    self._take(await link.next(None))
            except PartGone as error:
                sending.cancel()
                lost = error
        raise lost

    def _take(self, event: Event) -> None:
        if Detection.is_type(event.type):
            name = event.data.get("name")
            self._heard = name[:LONGEST_NAME] if isinstance(name, str) and name else "wake word"

    async def _begin(self, link: Link) -> None:
        await link.send(Detect(self._words or None).event(), AudioStart(**_FORM).event())

    async def _send(self, link: Link) -> None:
        """What was heard, in chunks. Ends with the connection, which `_listen` notices."""
        chunk = bytearray()
        frames = 0
        try:
            while True:
                if (frame := await self._frames.get()) is None:
                    chunk.clear()
                    frames = 0
                    await link.send(AudioStop().event())
                    await self._begin(link)
                    continue
                chunk += frame
                frames += 1
                if frames == CHUNK_FRAMES:
                    await link.send(AudioChunk(audio=bytes(chunk), **_FORM).event())
                    chunk.clear()
                    frames = 0
        except PartGone:
            await link.close()

    async def close(self) -> None:
        """Idempotent."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})
