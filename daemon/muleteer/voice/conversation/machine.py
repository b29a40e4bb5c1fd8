"""The conversation as a state machine: what is heard, recognised, answered and said in, deeds out. Pure.

    waiting -> listening -> understanding -> thinking -> speaking -> listening (a follow-up) or waiting

Time is seconds on any clock that only goes forward, handed in with each input; `due` is when `tick` has
something to do. Nothing here waits, and nothing that is heard outlives the utterance it belongs to.

- waiting: only the wake word counts; and, while timers ring, a word of stopping.
- listening: somebody may speak, for a limited time. In a pause what there is so far is recognised: most
  pauses are the end, and then the text is there already.
- understanding: the utterance has ended; its text is not there yet, or breaks off and may go on.
- thinking: a turn runs. Who speaks on right after the end of an utterance had not ended it.
- speaking: sentences are heard. The wake word stops them, and speech does where `barge_in` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from muleteer.voice.conversation import times
from muleteer.voice.conversation.addressed import without
from muleteer.voice.conversation.bell import Bell, Rung
from muleteer.voice.conversation.deeds import Answer, Ask, Cancel, Deed, Keep, Recognize, Silence, Warm
from muleteer.voice.conversation.ear import BEFORE, Ear
from muleteer.voice.conversation.manners import Cutter, Manners
from muleteer.voice.conversation.meaning import For, meaning
from muleteer.voice.conversation.moments import Moments, over
from muleteer.voice.conversation.outbox import Outbox
from muleteer.voice.conversation.turn import Turn
from muleteer.voice.conversation.unfinished import unfinished
from muleteer.voice.conversation.words import words
from muleteer.voice.parts import Heard

Phase = Literal["waiting", "listening", "understanding", "thinking", "speaking"]


class Conversation:
    """Each input returns the deeds it leads to, in order. `cutter` makes a cutter for each answer."""

    def __init__(self, manners: Manners, cutter: Callable[[], Cutter]) -> None:
        self.manners, self.muted = manners, False
        self.phase: Phase = "waiting"
        self._cutter, self._words = cutter, words(manners.language)
        self._ear, self._bell, self._out = Ear(manners.limits), Bell(), Outbox(manners.tones)
        self._number = 0  # of the recognition or turn that counts
        self._recognizing = False
        self._text: str | None = None  # recognised before the end was certain
        self._turn: Turn | None = None
        self._question: tuple[str, str] | None = None  # the turn that asked, and what
        self._wanted: For = "request"
        self._wake_word = ""
        self._interrupted = False
        self._tries = 0
        self._talked = False  # with somebody, who may go on
        self._ended = 0.0  # when the last utterance did
        self._at = Moments()

    @property
    def ringing(self) -> bool:
        return bool(self._bell)

    @property
    def due(self) -> float | None:
        """When `tick` has something to do; None while nothing is awaited."""
        return min((each for each in (self._at.next, self._bell.next) if each is not None), default=None)

    # What is heard.

    def frame(self, now: float, frame: bytes, speech: float, wake: str) -> list[Deed]:
        """One frame of the microphone, how likely it is speech, and the wake word that ended with it."""
        if self.muted:
            return []
        heed = self._ear.hear(frame, speech)
        if wake:
            self._wake(now, wake)
        elif heed == "began":
            self._began(now)
        elif heed == "resumed":
            self._resumed(now)
        elif heed == "paused":
            self._recognize()
        elif heed == "ended":
            self._end(now)
        return self.tick(now)

    def recognized(self, now: float, number: int, heard: Heard) -> list[Deed]:
        """The text of an utterance."""
        if number == self._number and self._recognizing:
            self._recognizing = False
            self._text = without(heard.text.strip(), self._wake_word)
            if self.phase == "understanding":
                self._understand(now, self._text)
        return self._out.take()

    def deaf(self, now: float, number: int) -> list[Deed]:
        """The utterance could not be recognised."""
        if number == self._number and self._recognizing:
            self._recognizing = False
            if self.phase == "understanding":
                self._excuse(self._words.deaf)
        return self._out.take()

    # What the turn tells.

    def told(self, now: float, number: int, name: str, fields: Mapping[str, object]) -> list[Deed]:
        """One event of the turn of this number."""
        if number != self._number or not (turn := self._turn):
            return []
        if name == "call.finished" and fields.get("status") in ("unavailable", "error"):
            self._out.tone("trouble")
        for sentence in turn.told(name, fields):
            self._say(sentence)
        if turn.over:
            self._turn, self._question, self._tries = None, turn.asked, 0
            self._speaking(now)
        return self._out.take()

    def failed(self, now: float, number: int, code: str) -> list[Deed]:
        """The turn of this number ended without an answer, for the reason `code` (`errors.py`)."""
        if number != self._number or not self._turn:
            return []
        self._turn = None
        if code == "cancelled":
            self._speaking(now)
        else:
            self._out.tone("trouble")
            self._excuse(self._words.excuse(code))
        return self._out.take()

    # What is said.

    def said(self, now: float, number: int) -> list[Deed]:
        """What was to be said up to this number has been heard out, or could not be."""
        if self._out.heard(number):
            self._quiet(now)
        return self._out.take()

    def announce(self, text: str) -> list[Deed]:
        """Say something of somebody else's."""
        if self._out.say(text) and self.phase == "waiting":
            self._wait()
            self.phase = "speaking"
        return self._out.take()

    def hush(self) -> list[Deed]:
        """No more of whatever is heard, done or rings: somebody has pressed a button."""
        self._stop_ringing()
        self._drop()
        self._wait()
        return self._out.take()

    # What happens elsewhere.

    def rang(self, now: float, rung: Rung) -> list[Deed]:
        """A timer's or an alarm's time has come."""
        self._bell.ring(now, rung)
        if self.phase in ("thinking", "speaking"):
            self._out.tone("ring")  # and all of it when that is over
        elif self.phase == "listening" and not self._wake_word and not self._ear.engaged:
            self._wait()
        return self.tick(now)

    def silenced(self) -> list[Deed]:
        """Whatever rings was stopped somewhere else."""
        if self._bell.stop() and self.phase == "waiting":
            self._out.hush()
            self._wait()
        return self._out.take()

    def mute(self, muted: bool) -> list[Deed]:
        """Hear nothing from now on, and forget what was being heard; or hear again."""
        if muted != self.muted:
            self.muted = muted
            self._ear.forget()
            if self.phase in ("listening", "understanding"):
                self._wait()
            self._out.tone("muted" if muted else "unmuted")
        return self._out.take()

    def tick(self, now: float) -> list[Deed]:
        """Do what is due."""
        if over(self._at.ready, now):
            self._at.ready = None
            self._out.tone("listening")
        if over(self._at.opens, now):
            self._at.opens = None
            self._ear.open()
        if over(self._at.slow, now):
            self._at.slow = now + times.STILL
            self._still_busy()
        if over(self._at.until, now) and not self._ear.engaged:
            self._at.until = None
            self._run_out(now)
        if self.phase == "waiting" and not self._ear.engaged and over(self._bell.next, now):
            self._strike(now)
        return self._out.take()

    # Inside: each changes the state and leaves deeds in the outbox.

    def _wake(self, now: float, word: str) -> None:
        self._attend(now, word)
        self._ear.open(self.manners.noticed)
        self._at.ready = now + times.READY
        self._out.do(Warm())

    def _began(self, now: float) -> None:
        """Somebody has begun to speak; while something is said only where that may stop it."""
        if self.phase == "speaking":
            self._attend(now)
        if self.phase == "listening" and not self._wake_word:
            self._out.do(Warm())
        self._at.ready = None

    def _attend(self, now: float, word: str = "") -> None:
        """To something new; whatever else is going on ends."""
        self._interrupted = self._interrupted or self.phase in ("thinking", "speaking")
        self._drop()
        self._question, self._wake_word, self._tries = None, word, 0
        self._listen(now, "request", times.WAKE)

    def _resumed(self, now: float) -> None:
        """Somebody goes on after a pause."""
        if self.phase == "listening" or (self.phase == "waiting" and self._bell):
            self._recognizing, self._text = False, None
        elif now - self._ended <= times.GOES_ON and not (self._turn and self._turn.acted):
            self._interrupted = self._turn is not None
            self._drop()
            self._listen(now, self._wanted, times.WAKE)
        elif self.manners.barge_in == "speech":
            self._attend(now)
            self._ear.open(BEFORE)
        else:
            self._ear.close()

    def _recognize(self) -> None:
        self._number += 1
        self._recognizing, self._text = True, None
        self._out.do(Recognize(self._number, self._ear.pcm))

    def _end(self, now: float) -> None:
        """The utterance is over."""
        if self.phase == "waiting":
            self._wanted = "bell"
        if not self._recognizing and self._text is None:
            self._recognize()
        self.phase, self._ended, self._at.until, self._at.ready = "understanding", now, None, None
        if self._wanted != "bell":
            self._at.slow = now - self.manners.limits.pause + times.SLOW
        if self._text is not None:
            self._understand(now, self._text)

    def _understand(self, now: float, text: str) -> None:
        meant = meaning(text, self._wanted, self._interrupted)
        if meant in ("stop", "request"):
            self._stop_ringing()
        if meant in ("nothing", "stop"):
            self._nothing(now, meant == "nothing")
        elif meant == "unclear" and self._question and self._tries + 1 < times.MOST_TRIES:
            self._tries += 1
            self._excuse(self._words.again)
            self._out.say(self._question[1])
        elif meant in ("yes", "no") and self._question:
            self._begin()
            self._out.do(Answer(self._number, self._question[0], meant == "yes"))
            self._question = None
        elif unfinished(text, self.manners.language) and now - self._ended < times.PATIENCE:
            self._at.until = self._ended + times.PATIENCE
        else:
            self._ask(text)

    def _nothing(self, now: float, again: bool) -> None:
        """Nothing is to be done about what was said, if anything was; where it may have been a noise, there
        is one more try."""
        self._tries += 1
        if again and self._wanted != "bell" and self._tries < times.MOST_TRIES:
            self._listen(now, self._wanted, times.WAKE)
            self._ear.open()
        else:
            self._wait()

    def _ask(self, text: str) -> None:
        self._begin()
        self._question = None
        self._out.do(Ask(self._number, text))

    def _begin(self) -> None:
        """A turn; the ear stays open for a while, since the utterance may go on."""
        self._out.do(Keep(self._ear.pcm))
        self._number += 1
        self._turn, self._text, self._at.until = Turn(self._cutter()), None, None
        self.phase, self._talked = "thinking", True

    def _say(self, sentence: str) -> None:
        """A sentence of the answer."""
        if self._out.say(sentence) and self._turn and not self._turn.answered:
            self._turn.answered = True
            self._at.slow = None
            self._speak()

    def _speak(self) -> None:
        self.phase = "speaking"
        if self.manners.barge_in == "speech":
            self._ear.open()
        else:
            self._ear.close()

    def _excuse(self, sentence: str) -> None:
        """Say why there is no answer."""
        self._at.slow = self._at.until = None
        self._out.say(sentence)
        self._speak()

    def _speaking(self, now: float) -> None:
        """The turn is over; what it said may still be heard."""
        self._at.slow = None
        self.phase = "speaking"
        if self._out.quiet:
            self._quiet(now)

    def _quiet(self, now: float) -> None:
        """All that was to be said has been heard out."""
        if self.phase == "waiting" and self._bell:
            self._bell.heard_out(now)
            self._at.opens = now + times.TAIL
        if self.phase != "speaking":
            return
        if self._turn:
            self._at.slow = now + times.STILL
        elif self._question and not self.muted:
            self._listen_after(now, "question", times.QUESTION)
        elif self._talked and self.manners.follow_up and not self.muted and not self._bell:
            self._listen_after(now, "request", self.manners.follow_up)
        else:
            self._wait()

    def _listen_after(self, now: float, wanted: For, seconds: float) -> None:
        self._wake_word, self._interrupted = "", False
        self._ear.close()
        self._listen(now, wanted, seconds + times.TAIL)
        self._at.opens = now + times.TAIL

    def _listen(self, now: float, wanted: For, seconds: float) -> None:
        self.phase, self._wanted, self._at.until = "listening", wanted, now + seconds
        self._text, self._recognizing, self._at.slow = None, False, None

    def _still_busy(self) -> None:
        if self.manners.slow == "tone":
            self._out.tone("thinking")
        elif self.manners.slow == "words":
            self._out.say(self._words.moment)

    def _run_out(self, now: float) -> None:
        """Nobody has spoken, or gone on, in time."""
        if self.phase == "understanding" and self._text:
            self._ask(self._text)
        elif self.phase == "listening":
            if self._wake_word or self._question:
                self._out.tone("over")
            self._wait()

    def _strike(self, now: float) -> None:
        """Ring, and say what for; nobody is heard meanwhile."""
        self._ear.close()
        if self._bell.strike(now):
            self._out.tone("ring")
            for each in self._bell.rung:
                self._out.say(self._words.rung(each.kind, each.label))

    def _stop_ringing(self) -> None:
        if self._bell.stop():
            self._out.do(Silence())

    def _drop(self) -> None:
        """Give up whatever is done or said."""
        if self._turn:
            self._out.do(Cancel())
        self._number += 1
        self._turn = self._text = None
        self._recognizing = False
        self._at.clear()
        self._out.hush()

    def _wait(self) -> None:
        """For the wake word."""
        self.phase = "waiting"
        self._number += 1
        self._text, self._question, self._wake_word, self._interrupted = None, None, "", False
        self._recognizing = self._talked = False
        self._at.clear()
        self._ear.close()
        if self._out.quiet:
            self._bell.resume()
