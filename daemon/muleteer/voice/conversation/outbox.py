"""Deeds on their way out, and the row of what is to be said: what of it was heard. Pure."""

from __future__ import annotations

from muleteer.voice.conversation.deeds import Chime, Deed, Hush, Speak, Tone

ALWAYS = ("ring", "muted", "unmuted")  # tones that are no matter of taste


class Outbox:
    """`tones`: whether sounds tell what is going on."""

    def __init__(self, tones: bool) -> None:
        self._tones = tones
        self._deeds: list[Deed] = []
        self._row = self._heard = 0

    @property
    def quiet(self) -> bool:
        """Whether all that was to be said has been heard out."""
        return self._heard == self._row

    def do(self, deed: Deed) -> None:
        self._deeds.append(deed)

    def say(self, text: str) -> bool:
        """Whether there was anything to say."""
        if text.strip():
            self._row += 1
            self.do(Speak(self._row, text.strip()))
        return bool(text.strip())

    def tone(self, tone: Tone) -> None:
        if self._tones or tone in ALWAYS:
            self._row += 1
            self.do(Chime(self._row, tone))

    def hush(self) -> None:
        if not self.quiet:
            self._heard = self._row
            self.do(Hush())

    def heard(self, number: int) -> bool:
        """Whether with this number, and not before it, all has been heard out."""
        if not self._heard < number <= self._row:
            return False
        self._heard = number
        return self.quiet

    def take(self) -> list[Deed]:
        """What is to be done, once."""
        deeds, self._deeds = self._deeds, []
        return deeds
