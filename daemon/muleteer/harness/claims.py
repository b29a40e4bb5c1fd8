"""Sentences in which a model says that it did something, will or can: true only where a tool did it.

Pure. Knows such claims as they are worded in `deeds`, in six languages; a claim in other words passes, so
this is the last net and not the first. What can be done is decided by plans and tools, never here.
"""

from __future__ import annotations

import re

from muleteer.harness.deeds import LANGUAGES, wording

# Words of what a person said, from which on a text that a reply speaks of is in it.
TEXT_WORDS = 30


WORDINGS = tuple(map(wording, LANGUAGES))


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_OWN = _any(*(each.own for each in WORDINGS))
_PASSIVE = [(_any(rf"\b(?:{each.things})\b"), _any(each.passive)) for each in WORDINGS]
_OFFER = _any(*(each.offers for each in WORDINGS))
_CONTENTS = _any(*(each.contents for each in WORDINGS))
_DENIED = re.compile(
    r"\b(?:not|never|cannot|unable|nicht|kein\w*|nie|ne|pas|non|no (?:puedo|he|hemos|ha|han|está)|değil\w*)\b"
    r"|n't\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\b(?:i|we|ich|wir|habe|he|hemos|te|lo|voy|acabo|puedo|j|je|nous|ho|abbiamo|ti|posso|done|noted|erledigt|notiert"
    r"|hecho|anotado|listo|fatto|annotato|fait|noté|tamamlandı|yapıldı|according|laut|según|selon|secondo)\b|\bc'"
    rf"|\b(?:{'|'.join(each.things for each in WORDINGS)})\b"
    r"|\b(?:file|letter|document|pdf|calendar|datei|brief|dokument|archivo|carta|fichier|lettre|lettera|dosya"
    r"|mektup|belge)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\W*(?:the|all|your|both|every|die|das|der|alle|dein\w*|el|la|los|las|tus?|les?|votre|il|gli|l|tüm)\b"
    r"(?:\W+\w+){0,2}\W*",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[.!?…])\s+|\n+")


def claims(sentence: str, own: bool = False, told: str | None = None) -> bool:
    """Whether this sentence says that something was done, is about to be, or could be ordered here. `own`:
    only by its speaker, since a text that was found may speak of what others did. With `told`, what the user
    said, also whether it says what a text holds that is not in there."""
    plain = sentence.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if _DENIED.search(plain):
        return False
    if _OFFER.search(plain) and not own:
        return True
    if plain.endswith("?"):
        return False
    if _OWN.search(plain):
        return True
    if told is not None and len(told.split()) < TEXT_WORDS and _CONTENTS.search(plain):
        return True
    return not own and any(thing.search(plain) and done.search(plain) for thing, done in _PASSIVE)


def any_claim(text: str) -> bool:
    """Whether one of its sentences claims."""
    return any(map(claims, _END.split(text)))


class Guard:
    """Lets a streamed text through up to the first claim. A sentence that might become one is held back until
    it has ended; all others pass word by word. `told` is what the user said, where that is known."""

    def __init__(self, told: str | None = None) -> None:
        self._told = told
        self._sentence = ""
        self._shown = 0
        self.tripped = False

    def feed(self, text: str) -> str:
        """What may be shown now: nothing more, once `tripped`."""
        self._sentence += text
        shown = ""
        while not self.tripped and (border := _END.search(self._sentence)):
            shown += self._pass(border.end())
        if not (self.tripped or _OPENING.search(self._sentence) or _SUBJECT.fullmatch(self._sentence)):
            shown += self._show(self._sentence.rfind(" ") + 1)
        return shown

    def finish(self) -> str:
        return "" if self.tripped else self._pass(len(self._sentence))

    def _pass(self, end: int) -> str:
        """The rest of the sentence that ends there, if it is no claim."""
        if claims(self._sentence[:end], told=self._told):
            self.tripped = True
            return ""
        shown = self._show(end)
        self._sentence, self._shown = self._sentence[end:], 0
        return shown

    def _show(self, end: int) -> str:
        shown, self._shown = self._sentence[self._shown : end], max(self._shown, end)
        return shown
