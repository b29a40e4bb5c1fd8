"""An answer as a conversation has it: cut into sentences as it comes, each made into words."""

from __future__ import annotations

from muleteer.voice.conversation.cutter import AnswerCutter
from muleteer.voice.spoken.reading import aloud


class Spoken:
    """One answer in one language."""

    def __init__(self, language: str) -> None:
        self._language, self._cutter = language, AnswerCutter()

    def feed(self, piece: str) -> list[str]:
        return self._read(self._cutter.feed(piece))

    def rest(self) -> list[str]:
        return self._read([self._cutter.rest()])

    def _read(self, sentences: list[str]) -> list[str]:
        return [said for sentence in sentences if (said := aloud(sentence, self._language))]
