"""Where an utterance begins and ends, from how likely somebody speaks in each frame. Pure; counts frames, so
that it needs no clock, and a recording read faster than it was spoken is cut in the same places.

Keeps what was heard just before: people speak on right after the wake word, and a detector notices speech
only some frames after it began.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
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
EARLY = 0.26  # seconds of silence after which it is worth recognising what there is: it may be all
BEFORE = 0.6  # seconds kept from before: a wake word is noticed up to half a second after its end


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: of silence that end an utterance, and of the longest one."""

    pause: float = 0.7
    longest: float = 20.0


def _frames(seconds: float) -> int:
    return round(seconds / FRAME_SECONDS)


class Ear:
    """One `hear` a frame. Closed it only keeps the last moments; `open` begins to wait for an utterance.

    After `paused` it may be over, and is `resumed` or `ended`. After `ended` comes `resumed` where the
    speaker goes on before anybody has opened or closed the ear: the utterance is then longer.
    """

    def __init__(self, limits: Limits) -> None:
        self._pause, self._longest = _frames(limits.pause), _frames(limits.longest)
        self._before: deque[bytes] = deque(maxlen=_frames(BEFORE))
        self._taken: list[bytes] = []
        self._state: Literal["closed", "waiting", "speaking", "paused", "over"] = "closed"
        self._voiced = self._silent = 0

    @property
    def pcm(self) -> bytes:
        """The utterance so far, with what came just before it."""
        return b"".join(self._taken)

    @property
    def engaged(self) -> bool:
        """Whether an utterance has begun and has not ended."""
        return self._state in ("speaking", "paused")

    def open(self, with_before: bool = False) -> None:
        """Wait for an utterance, which may have begun in the moments before."""
        self._taken = list(self._before) if with_before else []
        self._state = "waiting"
        self._voiced = self._silent = 0

    def close(self) -> None:
        """Drop the utterance."""
        self._taken = []
        self._state = "closed"

    def forget(self) -> None:
        """Drop everything that was heard."""
        self.close()
        self._before.clear()

    def hear(self, frame: bytes, speech: float) -> Heed:
        """What this frame says of the utterance."""
        self._before.append(frame)
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
        if self._voiced >= _frames(BEGINS) and len(self._taken) < self._longest:
            began = self._state == "waiting"
            self._state = "speaking"
            return "began" if began else "resumed"
        self._trim()
        return ""

    def _count(self, speech: float) -> None:
        if speech >= SPEAKS:
            self._voiced, self._silent = self._voiced + 1, 0
        elif speech < PAUSES:
            self._silent += 1
            if self._silent >= _frames(GAP):
                self._voiced = 0

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
