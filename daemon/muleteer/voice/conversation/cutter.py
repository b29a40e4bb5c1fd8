"""An answer as it comes, cut into sentences as they are written; code blocks and thinking are no part of any.

`voice/spoken` makes words of each. Pure.
"""

from __future__ import annotations

from muleteer.utterances import Sentences
from muleteer.voice.spoken.markup import Blocks

LONGEST_SENTENCE = (
    240  # characters, about 16 s; longer ones are cut between clauses, or nothing is heard for long
)


class AnswerCutter:
    """A `manners.Cutter` for one answer."""

    def __init__(self) -> None:
        self._blocks, self._sentences = Blocks(), Sentences(LONGEST_SENTENCE)

    def feed(self, piece: str) -> list[str]:
        return self._sentences.feed(self._blocks.feed(piece))

    def rest(self) -> str:
        whole = self._sentences.feed(self._blocks.rest())
        return "".join([*whole, self._sentences.rest()])
