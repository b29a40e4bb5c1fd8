"""Text to speech by another program's Wyoming server. One connection a sentence. Knows the events of speech,
and into what pieces sound is best cut."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from wyoming.audio import AudioChunk, AudioStop
from wyoming.tts import Synthesize, SynthesizeVoice

from muleteer.voice.parts import SAMPLE_BYTES, Sound
from muleteer.voice.wyoming.server import Link, Listener, Server

SOUND_SECONDS = 30.0  # until the next piece of sound: piper says a long sentence in 10 s on the slowest board
LONGEST_TEXT = 2_000  # characters of one sentence, which is more than anybody listens to
LONGEST_SOUND = 300.0  # seconds; such a text takes about 130
MOST_EVENTS = 50_000  # of so much sound in the smallest pieces that servers send, and some more
FIRST_PIECE, LONGEST_PIECE = 0.5, 4.0  # seconds of sound at once: twice as long each time


class WyomingSpeech:
    """A `Speech`. `voice`: the one to ask for; "": the one that the server has for the language, which is its
    business: servers list voices as installed that they would have to fetch first."""

    def __init__(self, address: str, voice: str = "") -> None:
        self._server, self._voice = Server(address, "voice"), voice

    async def say(self, text: str, language: str) -> AsyncGenerator[Sound, None]:
        """As `Speech` has it."""
        voice = SynthesizeVoice(self._voice) if self._voice else SynthesizeVoice(language=language)
        async with self._server.connected() as link:
            await link.send(Synthesize(text[:LONGEST_TEXT], voice).event())
            pieces = _Pieces()
            async for sound in self._chunks(link):
                if (whole := pieces.add(sound)) is not None:
                    yield whole
            if (whole := pieces.rest()) is not None:
                yield whole

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


class _Pieces:
    """Small chunks joined: each gap between two sounds may be heard."""

    def __init__(self) -> None:
        self._pcm, self._rate, self._enough = bytearray(), 0, FIRST_PIECE

    def add(self, sound: Sound) -> Sound | None:
        """A piece, when there is enough for one, or the rate has changed."""
        before = self.rest() if self._rate not in (0, sound.rate) else None
        self._rate = sound.rate
        self._pcm += sound.pcm
        if before:
            return before
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
