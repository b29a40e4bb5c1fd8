"""A message that only makes sense after the one before: "and in Tokyo?" after "What time is it in Rome?".

Pure. Completes it with the words of the message that it leans on, so that every level sees one whole request
and no prompt changes. Only what begins like a follow-up is one, or ends like one ("the bedroom too"), goes on
with a sum ("and plus 6?"), or only says which one of several was meant ("the pasta one"); all others stay
what they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from muleteer.harness.compound import leaning, orders
from muleteer.harness.moods import asks, chosen, deletes

# Messages back that a chain of follow-ups may go.
CHAIN = 4

_EDGES = " \t\n,.;?!¿¡"
_LEAD = re.compile(
    r"^\W*(?:(?:and |ok(?:ay)?,? )?(?:what|how) about|and(?: now)?|und (?:was|wie) ist (?:es |das )?mit"
    r"|(?:was|wie) ist (?:es |das )?mit|und|y(?: qué tal)?|et(?: pour)?|ed?|en|hoe zit het met"
    r"|peki(?: ya)?|ya)\s+",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"[\s,]+(?:too|as well|also|auch|ebenfalls|también|aussi|anche|pure|ook|também|de|da)\W*$", re.IGNORECASE
)
_OPERATOR = (
    r"(?:[-+*/x:\u00d7\u00f7\u2212]|plus|minus|times|over|(?:multiplied|divided) by|mal|geteilt durch|más"
    r"|menos|por|entre|moins|fois|multiplié par|divisé par|più|meno|per|diviso|keer|gedeeld door|min|mais"
    r"|vezes|dividido por|artı|eksi|çarpı|bölü)"
)
_MORE_OF_A_SUM = re.compile(rf"{_OPERATOR} ?\d[\d.,]* ?(?:%|per ?cent|prozent|por ?ciento)?", re.IGNORECASE)
_SUM = re.compile(
    rf"[(\d].*?(?:{_OPERATOR}|%|\bper ?cent of|\bprozent von|\bpor ?ciento de)\s*[(\d].*", re.IGNORECASE
)
TRAILING = 5  # words of a follow-up that only ends like one; more of them are a request of their own


def completed(message: str, before: Sequence[str]) -> str:
    """The whole request that a message is after those `before` (the user's, oldest first); empty where it is
    no follow-up."""
    short = len(message.split()) <= TRAILING and bool(_TRAIL.search(message))
    piece = _TRAIL.sub("", _LEAD.sub("", message)).strip(_EDGES)
    more = _MORE_OF_A_SUM.fullmatch(piece)
    if before and not short and (name := chosen(message)):
        last = completed(before[-1], before[-CHAIN:-1]) or before[-1]
        open_order = not asks(last) and (orders(last) or deletes(last))
        return f"{last.strip(_EDGES)} {name}" if open_order else ""
    if not before or not (_LEAD.match(message) or short or more):
        return ""
    last = completed(before[-1], before[-CHAIN:-1]) or before[-1]
    if more:
        found = _SUM.search(last.strip(_EDGES))
        return f"({found[0]}) {piece}" if found else ""
    return leaning(last.strip(_EDGES), piece) if piece else ""
