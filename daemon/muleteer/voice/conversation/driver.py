"""The conversation on its parts: frames go into the machine, and what it wants done is done.

Everything runs on one event loop; recognition, the daemon and playing are waited for in tasks of their own,
so that a frame is never late. A part that vanishes is waited for, and the conversation goes on without it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from typing import Any, Protocol, cast

from muleteer.errors import MuleteerError
from muleteer.voice.conversation.bell import Rung
from muleteer.voice.conversation.deeds import (
    Answer,
    Ask,
    Cancel,
    Chime,
    Deed,
    Hush,
    Keep,
    Recognize,
    Silence,
    Speak,
    Warm,
)
from muleteer.voice.conversation.house import House, code_of
from muleteer.voice.conversation.machine import Conversation
from muleteer.voice.conversation.mouth import Mouth
from muleteer.voice.parts import (
    Heard,
    Microphone,
    PartGone,
    Recognizer,
    Speaker,
    Speech,
    VoiceActivity,
    WakeWord,
)

log = logging.getLogger(__name__)

SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before a part or the daemon is tried again; doubled
RECOGNIZE_SECONDS = 30.0  # for one utterance; a slow board needs as long as it lasts, which is 20 at most
MOST_RECOGNITIONS = 3  # of one utterance, while the recogniser is started again
RECOGNITION_PAUSE = 1.0  # seconds between them
ENDED = "The microphone has ended."


class Equipment(Protocol):
    """The parts, opened."""

    @property
    def microphone(self) -> Microphone: ...
    @property
    def speaker(self) -> Speaker: ...
    @property
    def wake_word(self) -> WakeWord: ...
    @property
    def activity(self) -> VoiceActivity: ...
    @property
    def recognizer(self) -> Recognizer: ...
    @property
    def speech(self) -> Speech: ...


class Driver:
    """Runs until cancelled. `spoken` makes words of a sentence in a language, `keep` gets what was said where
    that is to be kept, `did` is told of each deed before it is done."""

    def __init__(
        self,
        conversation: Conversation,
        parts: Equipment,
        house: House,
        spoken: Callable[[str, str], str],
        keep: Callable[[bytes], None] = lambda pcm: None,
        did: Callable[[Deed], None] = lambda deed: None,
    ) -> None:
        self.conversation = conversation
        self._parts, self._house, self._keep, self._did = parts, house, keep, did
        self._language = conversation.manners.language
        self._mouth = Mouth(parts.speech, parts.speaker, self._language, self._said, spoken)
        self._names: Sequence[str] = ()
        self._called = ""  # the wake word that was heard last, as people write it
        self._unmuted, self._due_changed = asyncio.Event(), asyncio.Event()
        self._hearing: asyncio.Task[None] | None = None
        self._recognition: asyncio.Task[None] | None = None
        self._turn: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._phase = conversation.phase
        self.microphone_gone = ""
        """Why nothing is heard now; empty where that is not so."""
        if not conversation.muted:
            self._unmuted.set()

    async def run(self) -> None:
        """Raises what no part is to blame for."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._hear_ever())
                group.create_task(self._tick_ever())
                group.create_task(self._follow_ever())
        finally:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
            await self._mouth.close()

    def mute(self, muted: bool) -> None:
        """From now on no frame is taken from the microphone, and it is let go; or it is opened again."""
        if muted == self.conversation.muted:
            return
        if muted:
            self._unmuted.clear()
            if self._hearing:
                self._hearing.cancel()
            if self._recognition:
                self._recognition.cancel()
        else:
            self._unmuted.set()
        self._parts.wake_word.reset()
        self._parts.activity.reset()
        self._carry_out(self.conversation.mute(muted))
        log.info("The microphone is %s.", "muted" if muted else "open")

    def say(self, text: str) -> None:
        self._carry_out(self.conversation.announce(text))

    def hush(self) -> None:
        """End whatever is heard, done or rings."""
        self._carry_out(self.conversation.hush())

    # What goes on all the time.

    async def _hear_ever(self) -> None:
        pause = SHORTEST_PAUSE
        while True:
            await self._unmuted.wait()
            self._hearing = asyncio.create_task(self._hear(), name="voice: hearing")
            try:
                await asyncio.wait({self._hearing})
            finally:
                self._hearing.cancel()
            if self._hearing.cancelled():  # it was muted
                continue
            error = self._hearing.exception()
            if error and not isinstance(error, PartGone):
                raise error
            pause = min(pause * 2, LONGEST_PAUSE) if self.microphone_gone else SHORTEST_PAUSE
            if not self.microphone_gone:
                log.error("Nothing is heard: %s", error or ENDED)
            self.microphone_gone = str(error or ENDED)
            await asyncio.sleep(pause)

    async def _hear(self) -> None:
        conversation, wake_word, activity = self.conversation, self._parts.wake_word, self._parts.activity
        async with aclosing(cast(AsyncGenerator[bytes, None], self._parts.microphone.frames())) as frames:
            async for frame in frames:
                self.microphone_gone = ""
                if wake := wake_word.hears(frame):
                    self._called = wake.replace("_", " ").title()
                speech = activity.speech(frame)
                self._carry_out(conversation.frame(self._now(), frame, speech, wake))

    async def _tick_ever(self) -> None:
        """Frames tick as well, but there are none while it is muted, or the microphone is gone."""
        while True:
            self._due_changed.clear()
            due = self.conversation.due
            with suppress(TimeoutError):
                async with asyncio.timeout(None if due is None else max(0.0, due - self._now())):
                    await self._due_changed.wait()
                    continue
            self._carry_out(self.conversation.tick(self._now()))

    async def _follow_ever(self) -> None:
        """What happens in the house, as long as there is a daemon."""
        pause = SHORTEST_PAUSE
        while True:
            try:
                self._names = await self._house.names()
                async with aclosing(self._house.events()) as events:
                    async for name, fields in events:
                        pause = SHORTEST_PAUSE
                        await self._happened(name, fields)
            except MuleteerError as error:
                log.debug("The daemon is not heard: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _happened(self, name: str, fields: dict[str, object]) -> None:
        if name == "timer.rang":
            rung = Rung(str(fields.get("kind", "timer")), str(fields.get("label") or ""))
            self._carry_out(self.conversation.rang(self._now(), rung))
        elif name == "timer.silenced":
            self._carry_out(self.conversation.silenced())
        elif name == "tools.changed":
            self._names = await self._house.names()

    # Deeds.

    def _carry_out(self, deeds: Sequence[Deed]) -> None:
        for deed in deeds:
            self._did(deed)
            match deed:
                case Recognize():
                    self._recognition = self._instead(self._recognition, self._recognize(deed))
                case Ask() | Answer():
                    self._turn = self._instead(self._turn, self._ask(deed))
                case Cancel() if self._turn:
                    self._turn.cancel()
                case Speak() | Chime():
                    self._mouth.put(deed)
                case Hush():
                    self._mouth.hush()
                case Keep():
                    self._keep(deed.pcm)
                case Warm():
                    self._start(self._hinted(self._house.warm()))
                case Silence():
                    self._start(self._hinted(self._house.silence()))
        self._due_changed.set()
        before, self._phase = self._phase, self.conversation.phase
        if self._phase == "waiting" != before:
            self._parts.wake_word.reset()  # a satellite with a wake word of its own sends no sound until then

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="voice: a deed")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _instead(
        self, before: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]
    ) -> asyncio.Task[None]:
        if before:
            before.cancel()
        return self._start(work)

    async def _recognize(self, deed: Recognize) -> None:
        try:
            async with asyncio.timeout(RECOGNIZE_SECONDS):
                heard = await self._recognized(deed.pcm)
        except (PartGone, TimeoutError) as error:
            log.error("What was said could not be recognised: %s", str(error) or "it took too long")
            self._carry_out(self.conversation.deaf(self._now(), deed.number))
        else:
            self._carry_out(self.conversation.recognized(self._now(), deed.number, heard))

    @property
    def _likely(self) -> list[str]:
        """Names that may be said; the end of the wake word is in what is heard, and must be known as such."""
        return [self._called, *self._names] if self._called else list(self._names)

    async def _recognized(self, pcm: bytes) -> Heard:
        """Raises `PartGone` where a recogniser that ended has not come back soon."""
        for _ in range(MOST_RECOGNITIONS - 1):
            with suppress(PartGone):
                return await self._parts.recognizer.recognize(pcm, self._language, self._likely)
            await asyncio.sleep(RECOGNITION_PAUSE)
        return await self._parts.recognizer.recognize(pcm, self._language, self._likely)

    async def _ask(self, deed: Ask | Answer) -> None:
        number = deed.number
        turn = (
            self._house.turn(deed.text) if isinstance(deed, Ask) else self._house.confirm(deed.turn, deed.yes)
        )
        try:
            async with aclosing(turn) as events:
                async for name, fields in events:
                    self._carry_out(self.conversation.told(self._now(), number, name, fields))
        except MuleteerError as error:
            log.warning("A turn has failed: %s", error)
            self._carry_out(self.conversation.failed(self._now(), number, code_of(error)))

    async def _hinted(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except MuleteerError as error:  # nothing depends on it
            log.debug("The daemon did not take a hint: %s", error)

    def _said(self, number: int) -> None:
        self._carry_out(self.conversation.said(self._now(), number))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
