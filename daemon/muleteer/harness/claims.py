"""Sentences in which a model says that it did something, or will: true only where a tool did it.

Pure. Knows how such claims are worded in English, German, Spanish and French; a claim in other words passes,
so this is the last net and not the first. What can be done is decided by plans and tools, never here.
"""

from __future__ import annotations

import re

_DONE_EN = (
    r"(?:turn|switch)(?:ed)?\b[^.!?]*\b(?:on|off)|set(?:ting)?\b[^.!?]*\b(?:timer|alarm|reminder|temperature|heating)"
    r"|(?:add(?:ed)?|put|written?|wrote|entered)\b[^.!?]*\b(?:list|calendar|notes?|notebook|cart|down)"
    r"|(?:created?|made?)\b[^.!?]*\b(?:timer|alarm|reminder|appointment|entry|note)"
    r"|(?:note|save|store|remember|book|schedule|delete|erase|lock|unlock|cancel|order|remind|dim|send)\w*|sent"
)
_DONE_DE = (
    r"(?:ein|aus|an|ab)geschaltet|(?:ein)?gestellt|notiert|gespeichert|gemerkt|hinzugefügt|gesendet|geschickt"
    r"|bestellt|gebucht|gelöscht|eingetragen|aufgeschrieben|gesetzt|aktiviert|deaktiviert|erinnern|merken|notieren"
)
_DOES_DE = r"schalte|stelle|notiere|merke|erinnere|speichere|bestelle|buche|lösche|trage"
_DONE_ES = (
    r"encendido|apagado|puesto|anotado|guardado|añadido|enviado|pedido|reservado|borrado|creado|programado"
)
_DONE_FR = r"allumé|éteint|noté|enregistré|ajouté|envoyé|commandé|réservé|supprimé|créé|programmé|réglé"

_CLAIM = re.compile(
    "|".join(
        (
            r"\b(?:i|we)(?:'(?:ve|ll|m)| have| will| am)?(?: (?:going to|just|now|already|also))* "
            rf"(?:{_DONE_EN})",
            rf"\bich (?:habe?|werde)\b[^.!?]*\b(?:{_DONE_DE})\b|\bich (?:{_DOES_DE})\b",
            rf"\b(?:he|hemos) (?:{_DONE_ES})\b|\b(?:te recordaré|lo anoto|lo apunto)\b",
            rf"\bj'ai (?:{_DONE_FR})|\bje (?:vais|te) (?:noter|rappeler|rappellerai|allumer|éteindre)\b",
            r"^\W*(?:done|noted|erledigt|notiert|hecho|anotado|c'est fait|c'est noté)\b",
        )
    ),
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|cannot|n't|nicht|kein\w*|nie|no puedo|ne|pas)\b|n't\b", re.IGNORECASE)
_OPENING = re.compile(
    r"\b(?:i|we|ich|wir|he|hemos|te|lo|j|je|done|noted|erledigt|notiert|hecho|anotado)\b|\bc'", re.IGNORECASE
)
_END = re.compile(r"(?<=[.!?…])\s+|\n+")


def claims(sentence: str) -> bool:
    """Whether this sentence says that its speaker did something, or is about to."""
    plain = sentence.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return not plain.endswith("?") and not _DENIED.search(plain) and bool(_CLAIM.search(plain))


class Guard:
    """Lets a streamed text through up to the first claim. A sentence that might become one is held back until
    it has ended; all others pass word by word."""

    def __init__(self) -> None:
        self._sentence = ""
        self._shown = 0
        self.tripped = False

    def feed(self, text: str) -> str:
        """What may be shown now: nothing more, once `tripped`."""
        self._sentence += text
        shown = ""
        while not self.tripped and (border := _END.search(self._sentence)):
            shown += self._pass(border.end())
        if not self.tripped and not _OPENING.search(self._sentence):
            shown += self._show(self._sentence.rfind(" ") + 1)
        return shown

    def finish(self) -> str:
        return "" if self.tripped else self._pass(len(self._sentence))

    def _pass(self, end: int) -> str:
        """The rest of the sentence that ends there, if it is no claim."""
        if claims(self._sentence[:end]):
            self.tripped = True
            return ""
        shown = self._show(end)
        self._sentence, self._shown = self._sentence[end:], 0
        return shown

    def _show(self, end: int) -> str:
        shown, self._shown = self._sentence[self._shown : end], max(self._shown, end)
        return shown
