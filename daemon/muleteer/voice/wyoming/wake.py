"""A wake word that another program's Wyoming server hears in the frames it is sent, such as
wyoming-openwakeword. Knows the events of detection, and how to hold a connection open."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence

from wyoming.audio import AudioChunk, AudioStart
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.wake import Detect, Detection

from muleteer.voice.parts import FRAME_BYTES, RATE, SAMPLE_BYTES, PartGone
from muleteer.voice.wyoming.server import Link, Patience, Server

log = logging.getLogger(__name__)

CHUNK_FRAMES = 4  # 80 ms, which is what openWakeWord looks at
MOST_FRAMES = 100  # 2 s that a slow server may be behind; a word that old is no call any more
LONGEST_NAME = 64  # characters of a word's name
AGAIN_MS = 1_000  # openWakeWord tells one call for half a second; nobody calls twice in so short a time
INFO_SECONDS = 5.0  # for a list that lies ready
MOST_TOLD = 10  # words of a server in a sentence
FRAME_MS = 20
_FORM = {"rate": RATE, "width": SAMPLE_BYTES, "channels": 1}


class WyomingWake:
    """A `WakeWord`. `words`: names to listen for; none: all that the server knows. It connects with the first
    frame. While there is no connection `hears` raises PartGone, and another is tried, less and less often."""

    def __init__(self, address: str, words: Sequence[str] = ()) -> None:
        self._server, self._words = Server(address, "wake word"), list(words)
        self._asked: list[str] = []  # the same, as the server calls them
        self._frames: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue(MOST_FRAMES)  # since when, and what
        self._heard = ""
        self._clock = 0  # milliseconds of all that was heard
        self._since = 0  # of what was heard before the last reset
        self._last = -AGAIN_MS  # when the last call was heard
        self._gone: PartGone | None = None
        self._task: asyncio.Task[None] | None = None

    def hears(self, frame: bytes) -> str:
        """As `WakeWord` has it; the server takes its time, so the word ended some frames ago."""
        if not self._task:
            self._task = asyncio.get_running_loop().create_task(self._keep(), name="wake word")
        if self._gone:
            raise self._gone
        if self._frames.full():
            self._frames.get_nowait()  # the oldest goes
        self._frames.put_nowait((self._clock, frame))
        self._clock += FRAME_MS
        heard, self._heard = self._heard, ""
        return heard

    def reset(self) -> None:
        """Forget what was heard so far, also what the server has not answered yet."""
        while not self._frames.empty():
            self._frames.get_nowait()
        self._heard, self._since = "", self._clock

    async def _keep(self) -> None:
        """A connection, again and again."""
        patience = Patience()
        while True:
            try:
                async with self._server.connected() as link:
                    self._asked = await self._known(link)
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
        if not Detection.is_type(event.type):
            return
        name, when = event.data.get("name"), event.data.get("timestamp")
        when = when if type(when) is int else self._clock
        if when >= max(self._since, self._last + AGAIN_MS):
            self._last = when
            self._heard = name[:LONGEST_NAME] if isinstance(name, str) and name else "wake word"

    async def _known(self, link: Link) -> list[str]:
        """The words as the server has them. Raises PartGone when it says that it has none of them."""
        await link.send(Describe().event())
        while not Info.is_type((event := await link.next(INFO_SECONDS)).type):
            pass
        theirs = {_plain(name): name for name in _names(event)}
        asked = [theirs[_plain(word)] for word in self._words if _plain(word) in theirs]
        if self._words and theirs and not asked:
            raise self._server.gone(
                f"does not know {self._words[0]}, but {', '.join(sorted(theirs)[:MOST_TOLD])}"
            )
        return asked or self._words

    async def _begin(self, link: Link) -> None:
        await link.send(Detect(self._asked or None).event(), AudioStart(**_FORM).event())

    async def _send(self, link: Link) -> None:
        """What was heard, in chunks. Ends with the connection, which `_listen` notices."""
        begun, chunk, anew = 0, bytearray(), self._since
        try:
            while True:
                when, frame = await self._frames.get()
                if anew != self._since:
                    await self._begin(link)  # no audio-stop: openWakeWord takes nothing after one
                    anew = self._since
                    chunk.clear()
                begun = when if not chunk else begun
                chunk += frame
                if len(chunk) == CHUNK_FRAMES * FRAME_BYTES:
                    await link.send(AudioChunk(audio=bytes(chunk), timestamp=begun, **_FORM).event())
                    chunk.clear()
        except PartGone:
            await link.close()

    async def close(self) -> None:
        """Idempotent."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})


def _names(info: Event) -> list[str]:
    programs = info.data.get("wake")
    models = [model for each in _dicts(programs) for model in _dicts(each.get("models"))]
    return [name[:LONGEST_NAME] for model in models if isinstance(name := model.get("name"), str)]


def _dicts(found: object) -> list[dict[str, object]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _plain(word: str) -> str:
    """Programs call the same word okay_nabu, ok_nabu and ok_nabu_v0.1."""
    plain = re.sub(r"\W+", "_", re.sub(r"_v\d[\d.]*$", "", word.lower()))
    return re.sub(r"^okay_", "ok_", plain)
