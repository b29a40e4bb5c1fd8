"""Text to speech by another program's Wyoming server. One connection a sentence. Knows the events of speech,
which of a server's voices speaks a language, and into what pieces sound is best cut."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from wyoming.audio import AudioChunk, AudioStop
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize, SynthesizeVoice

from muleteer.voice.parts import SAMPLE_BYTES, PartGone, Sound
from muleteer.voice.wyoming.server import Link, Listener, Server

log = logging.getLogger(__name__)

INFO_SECONDS = 5.0  # a list that lies ready
SOUND_SECONDS = 30.0  # until the next piece of sound: piper says a long sentence in 10 s on the slowest board
LONGEST_TEXT = 2_000  # characters of one sentence, which is more than anybody listens to
LONGEST_SOUND = 300.0  # seconds; such a text takes about 130
LONGEST_NAME = 128  # characters of a voice's
MOST_EVENTS = 50_000  # of so much sound in the smallest pieces that servers send, and some more
FIRST_PIECE, LONGEST_PIECE = (
    0.5,
    4.0,
)  # seconds of sound at once: short at first, then twice as long each time


class WyomingSpeech:
    """A `Speech`. `voice` is the one to ask for; "": one that the server has for the language."""

    def __init__(self, address: str, voice: str = "") -> None:
        self._server, self._voice = Server(address, "voice"), voice
        self._voices: dict[str, str] = {}  # by language; "": there is none

    async def say(self, text: str, language: str) -> AsyncIterator[Sound]:
        """As `Speech` has it. What no voice of the server speaks is read by the server's own."""
        try:
            async with self._server.connected() as link:
                name = self._voice or await self._voice_for(language, link)
                voice = SynthesizeVoice(name) if name else SynthesizeVoice(language=language)
                await link.send(Synthesize(text[:LONGEST_TEXT], voice).event())
                pieces = _Pieces()
                async for sound in self._chunks(link):
                    if (whole := pieces.add(sound)) is not None:
                        yield whole
                if (whole := pieces.rest()) is not None:
                    yield whole
        except PartGone:
            self._voices.clear()  # another server may be there next time
            raise

    async def _voice_for(self, language: str, link: Link) -> str:
        if language not in self._voices:
            await link.send(Describe().event())
            for _ in range(MOST_EVENTS):
                if Info.is_type((event := await link.next(INFO_SECONDS)).type):
                    break
            self._voices[language] = found = _speaking(event, language)
            if not found:
                log.warning(
                    "The voice at %s speaks no %s; its own voice reads that.", self._server.address, language
                )
        return self._voices[language]

    async def _chunks(self, link: Link) -> AsyncIterator[Sound]:
        """As the server sends them, until it says that this was all."""
        listener, heard = Listener(self._server), 0.0
        for _ in range(MOST_EVENTS):
            event = await link.next(SOUND_SECONDS)
            if AudioStop.is_type(event.type):
                return
            if AudioChunk.is_type(event.type):
                sound = listener.sound(event)
                heard += sound.seconds
                if heard > LONGEST_SOUND:
                    break
                yield sound
        raise self._server.gone("does not end what it says")

    async def close(self) -> None:
        """Nothing is open between sentences."""


def _speaking(info: Event, language: str) -> str:
    """The first voice that is installed and speaks the language, of whatever country; "": none."""
    for program in _dicts(info.data.get("tts")):
        for voice in _dicts(program.get("voices")):
            name, languages = voice.get("name"), voice.get("languages")
            spoken = languages if isinstance(languages, list) else []
            codes = {str(each).replace("_", "-").partition("-")[0].lower() for each in spoken}
            if voice.get("installed") is True and language in codes and isinstance(name, str):
                return name[:LONGEST_NAME]
    return ""


def _dicts(found: object) -> list[dict[str, object]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


class _Pieces:
    """Small chunks joined: each gap between two sounds may be heard."""

    def __init__(self) -> None:
        self._pcm, self._rate, self._enough = bytearray(), 0, FIRST_PIECE

    def add(self, sound: Sound) -> Sound | None:
        """A piece, when there is enough for one, or the rate has changed."""
        if self._rate not in (0, sound.rate):
            before = self.rest()
            self.add(sound)
            return before
        self._rate = sound.rate
        self._pcm += sound.pcm
        if len(self._pcm) / SAMPLE_BYTES / self._rate < self._enough:
            return None
        self._enough = min(self._enough * 2, LONGEST_PIECE)
        return self.rest()

    def rest(self) -> Sound | None:
        """What there is."""
        pcm, rate = bytes(self._pcm), self._rate
        self._pcm.clear()
        self._rate = 0
        return Sound(pcm, rate) if pcm else None
