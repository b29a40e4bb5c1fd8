"""Where an utterance begins and ends, from how likely somebody speaks in each frame. Pure; counts frames, so
that it needs no clock, and a recording read faster than it was spoken is cut in the same places.

Detectors are slow: microVAD notices a beginning 0.2 to 0.5 s late, and holds on to speech for as long after
its end (measured with espeak-ng). So what was heard just before is kept, and an end is also known by how loud
it is: who has been far louder and is not any more has stopped, at least for now. In noise only the detector
is left, and an end is known later.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass
from operator import mul
from typing import Literal

from muleteer.voice.parts import FRAME_SECONDS

Heed = Literal["", "began", "paused", "resumed", "ended"]

SPEAKS, PAUSES = (
    0.5,
    0.35,
)  # from the one on a frame counts as speech, below the other it does not
# Seconds of speech until somebody is taken to speak: "no" takes 0.2, a click or a cough's burst less.
BEGINS = 0.16
GAP = 0.2  # seconds without speech that a beginning may have: the stop consonants of a word
EARLY = 0.2  # seconds of silence after which it is worth recognising what there is: it may be all
BEFORE = 0.6  # seconds kept from before: a beginning is noticed up to half a second late
LEVEL_SECONDS = 1.5  # by which it is judged how loud somebody speaks
LOUD = 0.9  # of those frames are not as loud: a door that slams is not what somebody is compared with
QUIET = 64  # times less power, 18 dB, is silence; the weakest sounds within words last less than EARLY


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: of silence that end an utterance, and of the longest one."""

    pause: float = 0.7
    longest: float = 20.0


def _frames(seconds: float) -> int:
    return round(seconds / FRAME_SECONDS)


def _power(frame: bytes) -> int:
    samples = array("h", frame)
    return sum(map(mul, samples, samples))


class Ear:
    """One `hear` a frame. Closed it only keeps the last moments; `open` begins to wait for an utterance.

    After `paused` it may be over, and is `resumed` or `ended`. After `ended` comes `resumed` where the
    speaker goes on before anybody has opened or closed the ear: the utterance is then longer.
    """

    def __init__(self, limits: Limits) -> None:
        self._pause, self._longest = _frames(limits.pause), _frames(limits.longest)
        self._before: deque[bytes] = deque(maxlen=_frames(BEFORE))
        self._taken: list[bytes] = []
        self._powers: deque[int] = deque(maxlen=_frames(LEVEL_SECONDS))
        self._state: Literal["closed", "waiting", "speaking", "paused", "over"] = "closed"
        self._voiced = self._quiet = self._unheard = self._loud = 0

    @property
    def pcm(self) -> bytes:
        """The utterance so far, with what came just before it."""
        return b"".join(self._taken)

    @property
    def engaged(self) -> bool:
        """Whether an utterance has begun and has not ended."""
        return self._state in ("speaking", "paused")

    def open(self, before: float = 0.0) -> None:
        """Wait for an utterance, which may have begun so many seconds ago, at most BEFORE."""
        self._taken = list(self._before)[len(self._before) - min(_frames(before), len(self._before)) :]
        self._state = "waiting"
        self._voiced = self._quiet = self._unheard = self._loud = 0
        if not before:
            self._powers.clear()  # what was heard before was somebody else, or the speaker

    def close(self) -> None:
        """Drop the utterance."""
        self._taken = []
        self._state = "closed"

    def forget(self) -> None:
        """Drop everything that was heard."""
        self.close()
        self._before.clear()
        self._powers.clear()

    def hear(self, frame: bytes, speech: float) -> Heed:
        """What this frame says of the utterance."""
        self._before.append(frame)
        self._powers.append(_power(frame))
        if self._state == "closed":
            return ""
        self._taken.append(frame)
        self._count(speech)
        if self.engaged and len(self._taken) >= self._longest:
            return self._end()
        if self._state == "speaking":
            return self._rest() if self._silent >= _frames(EARLY) else ""
        if self._state == "paused" and self._silent == _frames(EARLY):
            return self._rest()  # a sound too short to go on with, and part of what was said all the same
        if self._state == "paused" and self._silent >= self._pause:
            return self._end()
        if min(self._voiced, self._loud) >= _frames(BEGINS) and len(self._taken) < self._longest:
            began = self._state == "waiting"
            self._state = "speaking"
            return "began" if began else "resumed"
        self._trim()
        return ""

    def _count(self, speech: float) -> None:
        quiet = self._is_quiet()
        self._quiet = self._quiet + 1 if quiet else 0
        self._loud += not quiet  # since the wake word: a detector that holds on to it is not believed
        self._unheard = self._unheard + 1 if speech < PAUSES else 0
        if speech >= SPEAKS and (not quiet or self._state == "waiting"):
            self._voiced += 1
        elif self._silent >= _frames(GAP):
            self._voiced = 0

    @property
    def _silent(self) -> int:
        """Frames since somebody was last heard; that it is loud again counts before the detector says so."""
        return max(self._quiet, self._unheard)

    def _is_quiet(self) -> bool:
        level = sorted(self._powers)[int(LOUD * (len(self._powers) - 1))]
        return self._powers[-1] * QUIET < level

    def _rest(self) -> Heed:
        self._state, self._voiced = "paused", 0
        return "paused"

    def _end(self) -> Heed:
        self._state, self._voiced = "over", 0
        return "ended"

    def _trim(self) -> None:
        """Nobody speaks: before an utterance only the last moments count, after it there is an end."""
        if self._state == "waiting" and not self._voiced:
            del self._taken[: -_frames(BEFORE)]
        del self._taken[self._longest :]
