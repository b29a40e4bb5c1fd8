"""Text that comes in pieces, cut into what can be spoken: whole sentences. Pure.

A period ends a sentence unless it belongs to a short ordinal ("3. Mai") or an abbreviation ("z. B.", "Dr.");
where that cannot be known, two sentences stay together, which nobody hears.
"""

from __future__ import annotations

import re

_END = re.compile(r"[.!?…][\"'”“»)\]]*\s+|\n\s*")
_SHORT_ORDINAL = re.compile(r"(?:\A|[\s(])\d{1,2}\Z")
_LETTER = re.compile(r"(?:\A|[\s(.])[^\W\d_]\Z")  # "z. B.", "e.g.", "J. Smith"
_LAST_WORD = re.compile(r"[^\W\d_][\w.-]*\Z")
_CLAUSE = re.compile(r"[,;:]\s+|\s[\N{EN DASH}\N{EM DASH}-]\s+")
LONGEST = 2000  # characters without an end; then what there is is spoken

# Abbreviations that a sentence goes on after, in the eight languages of the harness.
_SHORT = (
    "approx ca dr mr mrs ms prof st no vs jr incl max min bzw ggf evtl inkl mind hr fr nr str tel std sek "
    "p.ej aprox máx mín dra sr sra env mme mlle p.ex dott sig sig.ra ing bijv bv d.w.z dhr mevr örn yakl "
    "jan feb mar apr jun jul aug sep sept oct okt nov dec dez"
)
_ABBREVIATIONS = frozenset(_SHORT.split())


class Sentences:
    """What `feed` and `rest` give, joined, is what was fed. After `longest` characters without an end
    it is cut between clauses, or words."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._rest, self._longest = "", longest

    def feed(self, piece: str) -> list[str]:
        """The sentences that this piece has made whole."""
        self._rest += piece
        whole, start = [], 0
        for end in _END.finditer(self._rest):
            if self._rest[start : end.end()].strip() and _is_end(self._rest[start : end.start()], end[0]):
                whole.append(self._rest[start : end.end()])
                start = end.end()
        self._rest = self._rest[start:]
        while len(self._rest) > self._longest:
            cut = _clause(self._rest, self._longest)
            whole.append(self._rest[:cut])
            self._rest = self._rest[cut:]
        return whole

    def rest(self) -> str:
        """What is left when nothing more comes."""
        rest, self._rest = self._rest, ""
        return rest


def _is_end(before: str, mark: str) -> bool:
    if mark[0] != ".":
        return True
    if _SHORT_ORDINAL.search(before) or _LETTER.search(before):
        return False
    word = _LAST_WORD.search(before)
    return not word or word[0].lower() not in _ABBREVIATIONS


def _clause(text: str, longest: int) -> int:
    """Where to cut what is too long: after the last clause in it, else the last word."""
    for found in (_CLAUSE, re.compile(r"\s+")):
        ends = [each.end() for each in found.finditer(text, 0, longest) if text[: each.end()].strip()]
        if ends:
            return ends[-1]
    return longest
