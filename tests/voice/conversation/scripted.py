"""Parts that do what the test says, each as simple as its protocol allows.

Sound is marked: a frame of some byte is speech, of 0 is silence, of WAKE is the wake word; a voice's sound is
the text it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from muleteer.utterances import Sentences
from muleteer.voice.conversation.deeds import Deed
from muleteer.voice.conversation.driver import Driver
from muleteer.voice.conversation.house import House, Told
from muleteer.voice.conversation.machine import Conversation
from muleteer.voice.conversation.manners import Manners
from muleteer.voice.parts import FRAME_BYTES, FRAME_SECONDS, RATE, Heard, PartGone, Sound

WAKE = 9
FRAMES_A_WORD = 15
PATIENCE = 120.0  # virtual seconds


class Room:
    """A microphone: silence, unless somebody is heard, a frame each `pace` seconds. `taken` is how many
    frames were read, `opened` how often."""

    def __init__(self, pace: float = FRAME_SECONDS) -> None:
        self._pace = pace
        self._frames: list[int] = []
        self.taken = self.opened = 0
        self.open = self.gone = False

    async def frames(self) -> AsyncIterator[bytes]:
        self.opened += 1
        self.open = True
        try:
            while True:
                await asyncio.sleep(self._pace)
                if self.gone:
                    raise PartGone("The microphone was unplugged.")
                self.taken += 1
                yield bytes([self._frames.pop(0) if self._frames else 0]) * FRAME_BYTES
        finally:
            self.open = False

    async def hears(self, *parts: tuple[int, float]) -> None:
        """Marks, each for so many seconds; returns when they have been heard."""
        for mark, seconds in parts:
            self._frames += [mark] * round(seconds / FRAME_SECONDS)
        async with asyncio.timeout(PATIENCE):
            while self._frames:  # noqa: ASYNC110  (in virtual time)
                await asyncio.sleep(self._pace)

    async def wake(self) -> None:
        await self.hears((1, 0.4), (WAKE, FRAME_SECONDS))

    async def utterance(self, seconds: float = 1.0) -> None:
        await self.hears((2, seconds), (0, 0.9))

    async def close(self) -> None:
        self.open = False


@dataclass
class Loudspeaker:
    """What was heard out, and what was cut short."""

    heard: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    gone: bool = False

    def __post_init__(self) -> None:
        self._stop = asyncio.Event()

    async def play(self, sound: Sound) -> None:
        if self.gone:
            raise PartGone("The speaker was unplugged.")
        text = sound.pcm.rstrip(b"\0").decode() if sound.pcm.endswith(b"\0\0") else "(tone)"
        self._stop.clear()
        try:
            async with asyncio.timeout(sound.seconds):
                await self._stop.wait()
            self.cut.append(text)
        except TimeoutError:
            self.heard.append(text)
        except asyncio.CancelledError:
            self.cut.append(text)
            raise

    def stop(self) -> None:
        self._stop.set()

    async def close(self) -> None:
        self._stop.set()


class Voice:
    """A word takes as long as fifteen frames of `pace`."""

    def __init__(self, pace: float) -> None:
        self._word, self.gone = FRAMES_A_WORD * pace, False

    async def say(self, text: str, language: str) -> AsyncIterator[Sound]:
        if self.gone:
            raise PartGone("The voice is gone.")
        size = 2 * round(len(text.split()) * self._word * RATE)
        yield Sound(text.encode().ljust(size, b"\0"), RATE)

    async def close(self) -> None:
        pass


class Detector:
    """Of the wake word, and of speech."""

    def __init__(self) -> None:
        self.resets = 0

    def hears(self, frame: bytes) -> str:
        return "hey_jarvis" if frame[0] == WAKE else ""

    def speech(self, frame: bytes) -> float:
        return 0.95 if frame[0] else 0.02

    def reset(self) -> None:
        self.resets += 1

    async def close(self) -> None:
        pass


class Clerk:
    """A recogniser: the next line of the script for each utterance, after `seconds`. A line that is an
    exception is raised."""

    def __init__(self) -> None:
        self.script: list[str | Exception] = []
        self.heard: list[bytes] = []
        self.names: Sequence[str] = ()
        self.seconds = 0.1

    async def recognize(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        self.heard.append(pcm)
        self.names = names
        await asyncio.sleep(self.seconds)
        line = self.script.pop(0)
        if isinstance(line, Exception):
            raise line
        return Heard(line, language, 0.9)

    async def close(self) -> None:
        pass


Line = Told | float | Exception


class Home:
    """A house whose turns are written by the test: events, seconds to wait, and what is raised."""

    def __init__(self) -> None:
        self.turns: list[list[Line]] = []
        self.asked: list[str] = []
        self.confirmed: list[tuple[str, bool]] = []
        self.stopped = self.warmed = self.silenced = 0
        self.happens: asyncio.Queue[Told] = asyncio.Queue()

    async def _play(self) -> AsyncGenerator[Told, None]:
        try:
            for line in self.turns.pop(0):
                if isinstance(line, float):
                    await asyncio.sleep(line)
                elif isinstance(line, Exception):
                    raise line
                else:
                    yield line
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped += 1
            raise

    def turn(self, text: str) -> AsyncGenerator[Told, None]:
        self.asked.append(text)
        return self._play()

    def confirm(self, turn: str, yes: bool) -> AsyncGenerator[Told, None]:
        self.confirmed.append((turn, yes))
        return self._play()

    async def events(self) -> AsyncGenerator[Told, None]:
        while True:
            yield await self.happens.get()

    async def warm(self) -> None:
        self.warmed += 1

    async def silence(self) -> None:
        self.silenced += 1
        self.happens.put_nowait(("timer.silenced", {}))

    async def names(self) -> list[str]:
        return ["garden pump"]


def says(*sentences: str) -> list[Line]:
    """A turn that answers, after half a second."""
    pieces: list[Line] = [("text", {"text": f"{each} "}) for each in sentences]
    return [("turn.started", {"turn": "t1"}), 0.5, *pieces, ("turn.finished", {"answer": ""})]


@dataclass
class Scene:
    """A conversation that runs, and all its parts. `deeds` are what the machine wanted."""

    manners: Manners = field(default_factory=lambda: Manners(tones=False))
    house: House | None = None
    pace: float = FRAME_SECONDS

    def __post_init__(self) -> None:
        self.microphone, self.speaker, self.speech = Room(self.pace), Loudspeaker(), Voice(self.pace)
        self.wake_word = self.activity = Detector()
        self.recognizer, self.home = Clerk(), Home()
        self.deeds: list[Deed] = []
        self.kept: list[bytes] = []
        self.conversation = Conversation(self.manners, Sentences)
        self.driver = Driver(
            self.conversation,
            self,
            self.house or self.home,
            lambda text, language: text,
            self.kept.append,
            self.deeds.append,
        )

    @property
    def phase(self) -> str:
        return self.conversation.phase

    async def says(self, text: str, seconds: float = 1.0) -> None:
        """Somebody says this, and pauses."""
        self.recognizer.script.append(text)
        await self.microphone.utterance(seconds)

    async def until(self, phase: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.phase != phase:  # noqa: ASYNC110  (in virtual time)
                await asyncio.sleep(self.pace)


@asynccontextmanager
async def running(scene: Scene) -> AsyncIterator[Scene]:
    """The scene, until the block ends."""
    task = asyncio.create_task(scene.driver.run())
    try:
        yield scene
        assert not task.done(), "the conversation has ended by itself"
    finally:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and (error := task.exception()):
            raise error
