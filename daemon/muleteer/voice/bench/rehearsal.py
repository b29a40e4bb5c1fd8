"""A whole conversation without people: recordings go in, and what was heard, asked and said is kept.

Everything but the two ends is what a household uses. Knows the driver and its deeds; not what is right.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from muleteer.errors import MuleteerError
from muleteer.voice.bench.ends import FileMicrophone, Played, RecordedSpeaker
from muleteer.voice.bench.sounds import Samples, pcm, silence
from muleteer.voice.conversation import times
from muleteer.voice.conversation.deeds import Ask, Deed, Speak
from muleteer.voice.conversation.driver import Driver
from muleteer.voice.conversation.house import House, Told
from muleteer.voice.conversation.machine import Conversation
from muleteer.voice.conversation.manners import Cutter, Manners
from muleteer.voice.parts import Heard, Recognizer, Sound, Speech, VoiceActivity, WakeWord

LOOK_SECONDS = 0.01  # between two looks whether something has happened
AFTER_SECONDS = 2.0  # of silence after speech: more than any pause that ends an utterance
TURN_SECONDS = 300.0  # a busy machine is forgiven

Spoken = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened, and when (`time.monotonic`)."""

    at: float
    what: Deed | Heard | Sound | Told


@dataclass
class Ears:
    """A recogniser whose answers are kept."""

    inner: Recognizer
    moments: list[Moment]

    async def recognize(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        heard = await self.inner.recognize(pcm, language, names)
        self.moments.append(Moment(time.monotonic(), heard))
        return heard

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class Voice:
    """A voice whose sounds are kept, so that tones are none of them."""

    inner: Speech
    moments: list[Moment]

    async def say(self, text: str, language: str) -> AsyncIterator[Sound]:
        async for sound in self.inner.say(text, language):
            self.moments.append(Moment(time.monotonic(), sound))
            yield sound

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class Listened:
    """A house whose turns' events are kept. `whole`: it tells an answer only when all of it is there, and
    takes no hint that a turn is about to come: as programs in a row that know nothing of each other."""

    inner: House
    moments: list[Moment]
    whole: bool = False

    def turn(self, text: str) -> AsyncGenerator[Told, None]:
        return self._kept(self.inner.turn(text))

    def confirm(self, turn: str, yes: bool) -> AsyncGenerator[Told, None]:
        return self._kept(self.inner.confirm(turn, yes))

    def events(self) -> AsyncGenerator[Told, None]:
        return self.inner.events()

    async def warm(self) -> None:
        if not self.whole:
            await self.inner.warm()

    async def silence(self) -> None:
        await self.inner.silence()

    async def names(self) -> list[str]:
        return await self.inner.names()

    async def _kept(self, events: AsyncGenerator[Told, None]) -> AsyncGenerator[Told, None]:
        held: list[Told] = []
        try:
            async for event in events:
                self.moments.append(Moment(time.monotonic(), event))
                if self.whole and event[0] == "text":
                    held.append(event)
                    continue
                for each in held:
                    yield each
                held.clear()
                yield event
        finally:
            await events.aclose()


@dataclass
class Between:
    """The parts of a conversation but its ends."""

    wake_word: WakeWord
    activity: VoiceActivity
    recognizer: Recognizer
    speech: Speech


@dataclass
class Stage(Between):
    """With ends that are none."""

    microphone: FileMicrophone
    speaker: RecordedSpeaker


@dataclass
class Rehearsal:
    """What goes on in it: `moments` in their order."""

    driver: Driver
    microphone: FileMicrophone
    speaker: RecordedSpeaker
    moments: list[Moment] = field(default_factory=list)

    @property
    def conversation(self) -> Conversation:
        return self.driver.conversation

    def say(self, *waves: Samples) -> None:
        """Somebody speaks; then silence."""
        for wave in waves:
            self.microphone.put(pcm(wave))
        self.microphone.put(pcm(silence(AFTER_SECONDS)))

    async def until(self, what: Callable[[], object], seconds: float = TURN_SECONDS) -> None:
        """Raises `MuleteerError` where it has not come to that in time, with what did happen."""
        ends = time.monotonic() + seconds
        while not what():
            if time.monotonic() > ends:
                raise MuleteerError(f"In vain for {seconds:g} s, {self.conversation.phase}: {self.moments}")
            await asyncio.sleep(LOOK_SECONDS)

    async def answered(self, since: int = 0, seconds: float = TURN_SECONDS) -> str:
        """What is said to what was asked after the first `since` moments, when it has been heard out."""
        await self.until(
            lambda: self.asked(since) and self.conversation.phase in ("waiting", "listening"), seconds
        )
        return " ".join(self.said(since))

    async def attentive(self) -> None:
        """Until somebody may speak without a wake word; the ear opens a moment after the last sound."""

        def is_open() -> bool:
            due = self.conversation.due
            left = 0.0 if due is None else due - asyncio.get_running_loop().time()
            return self.conversation.phase == "listening" and left > times.TAIL

        await self.until(is_open)

    def asked(self, since: int = 0) -> list[str]:
        return [each.what.text for each in self.moments[since:] if isinstance(each.what, Ask)]

    def said(self, since: int = 0) -> list[str]:
        """Sentences that were to be said, as they are written."""
        return [each.what.text for each in self.moments[since:] if isinstance(each.what, Speak)]

    def spoken(self, since: int = 0) -> list[Played]:
        """What was heard of speech; tones are not."""
        made = [each.what for each in self.moments[since:] if isinstance(each.what, Sound)]
        return [one for one in self.speaker.played if any(one.sound is sound for sound in made)]


@asynccontextmanager
async def rehearsal(
    parts: Between,
    house: House,
    manners: Manners,
    cutter: Callable[[], Cutter],
    spoken: Spoken,
    *,
    real_time: bool,
    whole: bool = False,
) -> AsyncGenerator[Rehearsal, None]:
    """A conversation that runs. In `real_time` people speak as fast as people do; else a recording is heard
    as fast as it is read. What is said takes its time in both."""
    moments: list[Moment] = []
    microphone, speaker = FileMicrophone(real_time=real_time), RecordedSpeaker()
    ears, voice = Ears(parts.recognizer, moments), Voice(parts.speech, moments)
    stage = Stage(parts.wake_word, parts.activity, ears, voice, microphone, speaker)
    conversation, listened = Conversation(manners, cutter), Listened(house, moments, whole)

    def did(deed: Deed) -> None:
        moments.append(Moment(time.monotonic(), deed))

    driver = Driver(conversation, stage, listened, spoken, did=did)
    running = asyncio.create_task(driver.run())
    try:
        yield Rehearsal(driver, microphone, speaker, moments)
    finally:
        running.cancel()
        await asyncio.wait({running})
