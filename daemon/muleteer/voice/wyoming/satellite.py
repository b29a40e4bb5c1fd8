"""A microphone and a speaker that a satellite lends over Wyoming, as wyoming-satellite does: a small board in
another room, which this one connects to.

A satellite sends sound all the time, or from the moment at which it has heard its own wake word until it is
told that the command is over. Knows the events of satellites, and time; not what is said.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator

from wyoming.asr import Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.ping import Ping, Pong
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import PauseSatellite, RunSatellite
from wyoming.wake import Detection

from muleteer.voice.parts import FRAME_BYTES, RATE, SAMPLE_BYTES, PartGone, Sound, WakeWord
from muleteer.voice.wyoming.server import Link, Listener, Patience, Server

log = logging.getLogger(__name__)

AHEAD_SECONDS = (
    0.04  # of sound beyond what is heard: enough for a network's hiccups, silent soon after a stop
)
CHUNK_SECONDS = 0.02
GAP_SECONDS = 0.3  # between two sounds of one answer; the next one is made while one is heard
MOST_BEHIND = 100  # frames, 2 s, that nobody has taken; what is older was not listened to
LONGEST_NAME = 64  # characters of a wake word's name


class Satellite:
    """A `Microphone` and a `Speaker` in one; `wake` is its `WakeWord`. It connects with `frames`."""

    def __init__(self, address: str, wake: WakeWord | None = None) -> None:
        """`wake` listens where the satellite does not do so itself."""
        self._server = Server(address, "satellite")
        self._patience = Patience()
        self._link: Link | None = None
        self._is_again = False
        self._stopped = asyncio.Event()
        self._rate = 0  # of the stream that is open; 0: none is
        self._ending: asyncio.Task[None] | None = None
        self.wake = SatelliteWake(self, wake)

    # Its microphone

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """As `Microphone` has it; nothing comes while the satellite waits for its own wake word. After it was
        gone, the next call waits before it connects, longer each time."""
        if self._is_again:
            await asyncio.sleep(self._patience.wait())
        self._is_again = True
        async with self._server.connected() as link:
            await link.send(RunSatellite().event())
            heard: asyncio.Queue[bytes | PartGone] = asyncio.Queue(MOST_BEHIND)
            reading = asyncio.get_running_loop().create_task(self._read(link, heard), name="satellite")
            self._link = link
            try:
                while isinstance(frame := await heard.get(), bytes):
                    self._patience.reset()
                    yield frame
                raise frame
            finally:
                self._link, self._rate, self.wake.called = None, 0, ""
                reading.cancel()
                await asyncio.wait({reading})

    async def _read(self, link: Link, heard: asyncio.Queue[bytes | PartGone]) -> None:
        """Until the satellite is gone, which is the last that is put there."""
        listener, pcm = Listener(self._server, RATE), bytearray()
        try:
            while True:
                event = await link.next(None)
                if not AudioChunk.is_type(event.type):
                    await self._take(event, link)
                    continue
                pcm += listener.sound(event).pcm
                while len(pcm) >= FRAME_BYTES:
                    _put(heard, bytes(pcm[:FRAME_BYTES]))
                    del pcm[:FRAME_BYTES]
        except PartGone as error:
            _put(heard, error)

    async def _take(self, event: Event, link: Link) -> None:
        if Ping.is_type(event.type):
            await link.send(Pong(None).event())
        elif RunPipeline.is_type(event.type):
            self.wake.is_own = event.data.get("start_stage") != PipelineStage.WAKE
            if self.wake.is_own and not self.wake.called:
                self.wake.called = "satellite"
        elif Detection.is_type(event.type):
            name = event.data.get("name")
            self.wake.called = name[:LONGEST_NAME] if isinstance(name, str) and name else "satellite"

    # Its speaker

    async def play(self, sound: Sound) -> None:
        """As `Speaker` has it. Sound is sent as fast as it is heard, so that little of it is heard after a
        `stop`. What follows soon is one stream with it: satellites start a program for each."""
        self._stopped.clear()
        await self._begin(sound.rate)
        is_whole = False
        try:
            is_whole = await self._send_paced(sound)
        finally:
            self._ending = asyncio.get_running_loop().create_task(
                self._end(GAP_SECONDS if is_whole else 0.0), name="satellite"
            )

    async def _send_paced(self, sound: Sound) -> bool:
        """Whether it was heard out."""
        form = {"rate": sound.rate, "width": SAMPLE_BYTES, "channels": 1}
        begun = asyncio.get_running_loop().time()
        step = round(sound.rate * CHUNK_SECONDS) * SAMPLE_BYTES
        for start in range(0, len(sound.pcm), step):
            await self._send(AudioChunk(audio=sound.pcm[start : start + step], **form).event())
            sent = min(start + step, len(sound.pcm)) / SAMPLE_BYTES / sound.rate
            if await self._is_stopped_before(begun + sent - AHEAD_SECONDS):
                return False
        return not await self._is_stopped_before(begun + sound.seconds)

    async def _begin(self, rate: int) -> None:
        """A stream of this rate, or the one that has not ended yet."""
        if self._ending:
            self._ending.cancel()
            await asyncio.wait({self._ending})
        if self._rate not in (0, rate):
            await self._end(0.0)
        if not self._rate:
            await self._send(AudioStart(rate, SAMPLE_BYTES, 1).event())
        self._rate = rate

    async def _end(self, seconds: float) -> None:
        """Nothing more comes, as it seems after so long."""
        await asyncio.sleep(seconds)
        if self._rate:
            self._rate = 0
            try:
                await self._send(AudioStop().event())
            except PartGone as error:
                log.debug("%s", error)

    async def _is_stopped_before(self, time: float) -> bool:
        """Waits until then, by the loop's clock."""
        try:
            async with asyncio.timeout_at(time):
                await self._stopped.wait()
        except TimeoutError:
            return self._stopped.is_set()
        return True

    def stop(self) -> None:
        """As `Speaker` has it, where the satellite's own buffers are short."""
        self._stopped.set()

    async def _send(self, event: Event) -> None:
        if not self._link:
            raise self._server.gone("is not connected")
        await self._link.send(event)

    async def command_is_over(self) -> None:
        """The satellite need not be heard until it has heard its wake word again."""
        await self._send(Transcript("").event())

    async def close(self) -> None:
        """Idempotent; the satellite stops listening."""
        self.stop()
        if self._ending:
            await asyncio.wait({self._ending})
        if link := self._link:
            try:
                await link.send(PauseSatellite().event())
            except PartGone as error:
                log.debug("%s", error)
            await link.close()


def _put(heard: asyncio.Queue[bytes | PartGone], what: bytes | PartGone) -> None:
    """The oldest goes where there is no room."""
    if heard.full():
        heard.get_nowait()
    heard.put_nowait(what)


class SatelliteWake:
    """The satellite's own wake word where it has one; else that of this board."""

    def __init__(self, satellite: Satellite, other: WakeWord | None) -> None:
        self._satellite, self._other = satellite, other
        self.called = ""
        self.is_own = False
        self._telling: asyncio.Task[None] | None = None

    def hears(self, frame: bytes) -> str:
        """As `WakeWord` has it."""
        if self.called:
            called, self.called = self.called, ""
            return called
        return self._other.hears(frame) if self._other and not self.is_own else ""

    def reset(self) -> None:
        """As `WakeWord` has it; a satellite with a wake word of its own listens for that again."""
        self.called = ""
        if self._other:
            self._other.reset()
        if self.is_own and (not self._telling or self._telling.done()):
            self._telling = asyncio.get_running_loop().create_task(self._tell(), name="satellite")

    async def _tell(self) -> None:
        try:
            await self._satellite.command_is_over()
        except PartGone as error:
            log.debug("%s", error)  # whoever listens to it learns of that, too

    async def close(self) -> None:
        """Idempotent."""
        if self._telling:
            await self._telling
        if self._other:
            await self._other.close()
