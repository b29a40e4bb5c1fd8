"""Speech to text by another program's Wyoming server. One connection an utterance, so that nothing is left
over when the server is started again. Knows the events of recognition."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from wyoming.asr import Transcribe, Transcript
from wyoming.event import Event

from muleteer.voice.parts import Heard
from muleteer.voice.wyoming.server import Link, Server

ANSWER_SECONDS = 60.0  # the base model of Whisper takes 10 s for a long sentence on the slowest board
LONGEST_TEXT = 4_000  # characters; nobody says more at once
MOST_NAMES = 100  # that are likely to be said; what Whisper is told before has room for about as many
LONGEST_NAME = 64  # characters


class WyomingRecognizer:
    """A `Recognizer`. `model` is the one to ask for, where the server has several."""

    def __init__(self, address: str, model: str = "") -> None:
        self._server, self._model = Server(address, "recogniser"), model

    async def recognize(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        """As `Recognizer` has it. Wyoming tells no confidence: it is 1 for what was understood, else 0."""
        likely = [name[:LONGEST_NAME] for name in names[:MOST_NAMES]]
        ask = Transcribe(self._model or None, language, transcript_names=likely or None)
        async with self._server.connected() as link:
            await link.send(ask.event())
            await link.send_sound(pcm)
            event = await self._transcript(link)
        text, spoken = event.data.get("text"), event.data.get("language")
        if not isinstance(text, str):
            raise self._server.gone("sends a transcript without a text")
        text = " ".join(text.replace("\0", " ").split())[:LONGEST_TEXT]
        known = isinstance(spoken, str) and 0 < len(spoken) <= LONGEST_NAME
        return Heard(text, str(spoken) if known else language, 1.0 if text else 0.0)

    async def _transcript(self, link: Link) -> Event:
        """The whole one; servers that stream send it, too."""
        loop = asyncio.get_running_loop()
        end = loop.time() + ANSWER_SECONDS
        while (left := end - loop.time()) > 0:
            event = await link.next(left)
            if Transcript.is_type(event.type):
                return event
        raise self._server.gone(f"has not answered within {ANSWER_SECONDS:.0f} seconds")

    async def close(self) -> None:
        """Nothing is open between utterances."""
