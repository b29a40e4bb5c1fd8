"""A message that is only a word of stopping: it names no thing, so it may end what runs and begin nothing.

Pure. Knows such words in the languages of `phrases`, all at once; not whether anything runs.
"""

from __future__ import annotations

import re

from muleteer.skills import MenuLine

STOPS = "the message only says stop, and this stops nothing"

_POLITE = r"(?:please|now|it|that|ok(?:ay)?|bitte|jetzt|sofort|por favor|s'il te plaît|per favore|lütfen)"
_WORDS = (
    r"stop|stopp|halt|enough|quit|cancel|abort|aufhören|hör auf|schluss|genug|abbrechen|para|basta"
    r"|detente|cancela|arrête|assez|annule|fermati|smettila|annulla|hou op|genoeg|ophouden|pare|chega|cancele"
    r"|dur|yeter|iptal"
)
_BARE = re.compile(rf"^\W*(?:{_POLITE}\W+)*(?:(?:{_WORDS})\W+)+(?:{_POLITE}\W+)*$", re.IGNORECASE)
_ENDS = re.compile(r"^\W*(?:stop|cancel)\b", re.IGNORECASE)


def bare(message: str) -> bool:
    """Whether it says stop, and not what."""
    return bool(_BARE.match(f"{message} "))


def against(message: str, line: MenuLine) -> str:
    """Why this line cannot be what a bare stop wants: only one that ends what it has begun can."""
    ends = line.effect == "write" and any(map(_ENDS.match, line.examples))
    return STOPS if bare(message) and not ends else ""
