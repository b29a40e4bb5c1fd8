"""An answer as it comes, as sentences to be read out: each as soon as it is whole, so that the first one is
heard while the rest is still being written. Pure.
"""

from __future__ import annotations

from muleteer.utterances import Sentences
from muleteer.voice.spoken.markup import Blocks
from muleteer.voice.spoken.reading import LONGEST, Reader, reader

LONGEST_SENTENCE = (
    240  # characters, about 16 s; longer ones are cut between clauses, or nothing is heard for long
)


class Spoken:
    """One answer in one language. What is heard in all does not depend on the pieces it came in."""

    def __init__(self, language: str) -> None:
        self._reader: Reader = reader(language)
        self._blocks, self._sentences = Blocks(), Sentences(LONGEST_SENTENCE)
        self._left = LONGEST

    def feed(self, piece: str) -> list[str]:
        """What this piece has made whole, ready for a voice."""
        piece, self._left = piece[: self._left], max(0, self._left - len(piece))
        return self._read(self._sentences.feed(self._blocks.feed(piece)))

    def rest(self) -> list[str]:
        """What is left when nothing more comes."""
        whole = self._sentences.feed(self._blocks.rest())
        return self._read([*whole, self._sentences.rest()])

    def _read(self, sentences: list[str]) -> list[str]:
        return [said for sentence in sentences if (said := self._reader.read(sentence))]
