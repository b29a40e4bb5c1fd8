"""Token bytes as text that may leave the engine, piece by piece. Pure.

Characters split over tokens are joined, thoughts are removed, a stop string ends the text and is never part
of it, and a text that goes in circles is noticed.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

THINK, THOUGHT = "<think>", "</think>"
LONGEST_CYCLE = 48  # tokens; longer passages are quoted twice in honest texts
SHORTEST_LOOP = 24  # tokens that must repeat: a line of dashes or a table rule is shorter
FEWEST_TURNS = 4  # times that a cycle must be seen: three equal list lines happen


class Visible:
    """Turns bytes into visible text. `stopped` once a stop string was seen."""

    def __init__(self, stops: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stops = [stop for stop in stops if stop]
        self._markers = [*self._stops, THINK, THOUGHT]
        self._pending = ""
        self._thinking = self._trim = False
        self.stopped = False

    def feed(self, piece: bytes) -> str:
        """The text that is certain now; what could be the beginning of a marker is held back."""
        self._pending += self._decoder.decode(piece)
        return self._advance()

    def finish(self, cut: bool = False) -> str:
        """The rest, when nothing more will come. Where a limit `cut` the text, half a character and what
        could be the beginning of a thinking tag are left out."""
        self._pending += self._decoder.decode(b"", final=not cut)
        text = self._advance()
        rest, self._pending = self._pending, ""
        if cut:
            rest = rest[: len(rest) - _held_back(rest, (THINK, THOUGHT))]
        return text if self._thinking or self.stopped else text + self._shown(rest)

    def _advance(self) -> str:
        shown = ""
        while not self.stopped:
            markers = [THOUGHT] if self._thinking else self._markers
            found = [(at, i) for i, marker in enumerate(markers) if (at := self._pending.find(marker)) >= 0]
            at = min(found)[0] if found else len(self._pending) - _held_back(self._pending, markers)
            if not self._thinking:
                shown += self._shown(self._pending[:at])
            if not found:
                self._pending = self._pending[at:]
                break
            marker = markers[min(found)[1]]
            self._pending = self._pending[at + len(marker) :]
            self.stopped = marker in self._stops and not self._thinking
            self._thinking = marker == THINK
            self._trim = self._trim or marker == THOUGHT
        return shown

    def _shown(self, text: str) -> str:
        """Text for the reader; white space after a thought is part of the thought."""
        if self._trim:
            text = text.lstrip()
            self._trim = not text
        return text


def _held_back(text: str, markers: Sequence[str]) -> int:
    """How many last characters could begin a marker."""
    longest = max(len(marker) for marker in markers) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(marker.startswith(text[-size:]) for marker in markers):
            return size
    return 0


def cycle(tokens: Sequence[int]) -> int:
    """How long the passage is that the tokens end with over and over; 0 if they do not go in circles."""
    last = len(tokens)
    for period in range(1, min(LONGEST_CYCLE, last // FEWEST_TURNS) + 1):
        if tokens[last - 1] != tokens[last - 1 - period]:
            continue
        span = max(FEWEST_TURNS * period, SHORTEST_LOOP)
        if last >= span and list(tokens[last - span : last - period]) == list(tokens[last - span + period :]):
            return period
    return 0
