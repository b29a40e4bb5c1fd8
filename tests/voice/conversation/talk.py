"""A conversation in virtual time: somebody says and waits so many seconds, and what follows is noted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from muleteer.utterances import Sentences
from muleteer.voice.conversation.deeds import Answer, Ask, Chime, Deed, Recognize, Speak
from muleteer.voice.conversation.machine import Conversation
from muleteer.voice.conversation.manners import Manners
from muleteer.voice.parts import FRAME_BYTES, FRAME_SECONDS, Heard

D = TypeVar("D")

SILENCE = bytes(FRAME_BYTES)
HALF = FRAME_SECONDS / 2  # so that a moment lies between two frames, whatever the rounding


def voice(mark: int) -> bytes:
    """A frame of speech that can be told from others."""
    return bytes([mark]) * FRAME_BYTES


@dataclass
class Talk:
    """`deeds` are all so far. What is to be said takes `lasts` seconds each, unless `lasts` is None: then the
    test says when."""

    manners: Manners = field(default_factory=lambda: Manners(tones=False))
    lasts: float | None = 0.5

    def __post_init__(self) -> None:
        self.machine = Conversation(self.manners, Sentences)
        self.now = 100.0
        self.deeds: list[Deed] = []
        self._seen = 0
        self._row: list[tuple[float, int]] = []

    def take(self, deeds: list[Deed]) -> None:
        self.deeds += deeds
        for each in deeds:
            if isinstance(each, Speak | Chime) and self.lasts is not None:
                after = max(self.now, self._row[-1][0] if self._row else 0.0)
                self._row.append((after + self.lasts, each.number))

    def pass_(self, seconds: float, speech: float = 0.0, frame: bytes = SILENCE, wake: str = "") -> None:
        """So many seconds of the same, the wake word at its end."""
        end = self.now + seconds
        while self.now + HALF < end:
            self.now += FRAME_SECONDS
            while self._row and self._row[0][0] <= self.now:
                self.take(self.machine.said(self.now, self._row.pop(0)[1]))
            last = self.now + HALF >= end
            self.take(self.machine.frame(self.now, frame, speech, wake if last else ""))

    def wake(self) -> None:
        """Somebody says the wake word."""
        self.pass_(0.6, 0.9, voice(1), "hey_jarvis")

    def speaks(self, seconds: float = 1.0, mark: int = 2) -> None:
        self.pass_(seconds, 0.9, voice(mark))

    def recognized(self, text: str) -> None:
        """The text of the last utterance."""
        last = self.all(Recognize)[-1]
        self.take(self.machine.recognized(self.now, last.number, Heard(text, "en", 0.9)))

    def says(self, text: str, seconds: float = 1.0) -> None:
        """Speech, the pause after it, and its text."""
        self.speaks(seconds)
        self.pass_(0.8)
        self.recognized(text)

    def told(self, name: str, **fields: object) -> None:
        self.take(self.machine.told(self.now, self.number, name, fields))

    def answers(self, text: str) -> None:
        """The turn answers, and ends."""
        self.told("text", text=text)
        self.told("turn.finished", answer=text)

    @property
    def number(self) -> int:
        """That of the turn begun last."""
        return next(each.number for each in reversed(self.deeds) if isinstance(each, Ask | Answer))

    @property
    def phase(self) -> str:
        return self.machine.phase

    def all(self, kind: type[D]) -> list[D]:
        return [each for each in self.deeds if isinstance(each, kind)]

    def new(self) -> list[Deed]:
        """What was done since this was asked last, without what only tests of it want."""
        new, self._seen = self.deeds[self._seen :], len(self.deeds)
        return [each for each in new if type(each).__name__ not in ("Keep", "Warm")]

    def spoken(self) -> list[str]:
        return [each.text for each in self.all(Speak)]

    def with_(self, **changed: object) -> Talk:
        """Another one, with other manners."""
        return Talk(replace(self.manners, **changed), self.lasts)  # type: ignore[arg-type]  # a test's own
