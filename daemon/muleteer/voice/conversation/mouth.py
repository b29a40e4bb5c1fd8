"""What is to be said, in its order: the next sentence becomes sound while one is heard.

Knows a voice and a speaker. Does not know why anything is said.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from muleteer.voice.conversation.deeds import Chime, Speak
from muleteer.voice.conversation.tones import tone
from muleteer.voice.parts import PartGone, Sound, Speaker, Speech

log = logging.getLogger(__name__)

AHEAD = 4  # sounds made before they are wanted; a long answer must not fill the memory

Item = Speak | Chime


class Mouth:
    """`put` and `hush` wait for nothing. `said` is called with the number of each item that was heard out, or
    could not be; `spoken` makes words of a sentence, for which `language` is the voice's."""

    def __init__(
        self,
        speech: Speech,
        speaker: Speaker,
        language: str,
        said: Callable[[int], None],
        spoken: Callable[[str, str], str],
    ) -> None:
        self._speech, self._speaker, self._language = speech, speaker, language
        self._said, self._spoken = said, spoken
        self._ending: set[asyncio.Task[None]] = set()
        self._last = 0
        self._row: asyncio.Task[None] | None = None
        self._begin()

    def put(self, item: Item) -> None:
        self._items.put_nowait(item)
        self._last = item.number
        if self._row is None:
            self._row = asyncio.create_task(self._speak(self._items, self._sounds), name="voice: speaking")
            self._row.add_done_callback(self._ended)

    def hush(self) -> None:
        """Silence now; what was to be said is dropped, and is not told as said."""
        if self._row:
            self._ending.add(self._row)
            self._row.cancel()
        self._speaker.stop()
        self._begin()

    async def close(self) -> None:
        self.hush()
        if self._ending:
            await asyncio.wait(self._ending)

    def _begin(self) -> None:
        self._items: asyncio.Queue[Item] = asyncio.Queue()
        self._sounds: asyncio.Queue[Sound | int] = asyncio.Queue(AHEAD)
        self._row = None

    def _ended(self, row: asyncio.Task[None]) -> None:
        """It was cancelled, or there is a mistake in it; then the conversation goes on without its words."""
        self._ending.discard(row)
        if not row.cancelled() and (error := row.exception()):
            log.error("Speaking has failed.", exc_info=error)
            self._begin()
            self._said(self._last)

    async def _speak(self, items: asyncio.Queue[Item], sounds: asyncio.Queue[Sound | int]) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._make(items, sounds))
            group.create_task(self._play(sounds))

    async def _make(self, items: asyncio.Queue[Item], sounds: asyncio.Queue[Sound | int]) -> None:
        """Sounds of the items, and after each its number."""
        while True:
            item = await items.get()
            if isinstance(item, Chime):
                await sounds.put(tone(item.tone))
            elif words := self._spoken(item.text, self._language).strip():
                try:
                    async for sound in self._speech.say(words, self._language):
                        await sounds.put(sound)
                except PartGone as error:
                    log.error("Something could not be said: %s", error)
            await sounds.put(item.number)

    async def _play(self, sounds: asyncio.Queue[Sound | int]) -> None:
        gone = False
        while True:
            sound = await sounds.get()
            if isinstance(sound, int):
                gone = False
                self._said(sound)
                continue
            try:
                if not gone:
                    await self._speaker.play(sound)
            except PartGone as error:
                log.error("Something could not be heard: %s", error)
                gone = True  # the rest of this sentence; the next one is tried again
