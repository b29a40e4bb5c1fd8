"""Short sounds that tell what is going on, made of sines. Pure.

Up means "I listen", down "it is over"; a low pair is trouble. Quiet, since they are heard every day.
"""

from __future__ import annotations

import math
from array import array
from functools import cache

from muleteer.voice.conversation.deeds import Tone
from muleteer.voice.parts import RATE, Sound

LOUD = 0.2  # of full scale; a voice has peaks of 0.5 and more
FADE = 0.008  # seconds; without it each note begins and ends with a click

# Hertz (0: silence) and seconds of each note.
_NOTES: dict[Tone, tuple[tuple[float, float], ...]] = {
    "listening": ((660, 0.07), (880, 0.09)),
    "thinking": ((587, 0.06), (0, 0.06), (587, 0.06)),
    "trouble": ((330, 0.12), (262, 0.16)),
    "over": ((660, 0.07), (494, 0.09)),
    "ring": ((880, 0.15), (0, 0.05), (1109, 0.15), (0, 0.05), (1319, 0.25)),
    "muted": ((494, 0.08), (330, 0.12)),
    "unmuted": ((330, 0.08), (494, 0.12)),
}


@cache
def tone(name: Tone) -> Sound:
    """The sound of this name, at RATE."""
    samples = array("h")
    for hertz, seconds in _NOTES[name]:
        samples.extend(_note(hertz, seconds))
    return Sound(samples.tobytes(), RATE)


def _note(hertz: float, seconds: float) -> list[int]:
    count, fade = round(seconds * RATE), round(FADE * RATE)
    return [
        round(
            32767 * LOUD * min(1.0, n / fade, (count - n) / fade) * math.sin(2 * math.pi * hertz * n / RATE)
        )
        for n in range(count)
    ]
