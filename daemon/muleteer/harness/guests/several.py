"""Which parts of a message a call has not taken up: "and lock the garage door" after the light was switched.

Pure. Where a message may be cut is `compound.py`'s knowledge. A part one of whose words stands in a call's
arguments is taken up: "cats and dogs" is one search where the search is for both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from muleteer.harness.compound import cuts
from muleteer.harness.guests.ask import Wanted

# Letters of a word that says something: "the" and "and" stand in any part.
SAYING = 4

_WORD = re.compile(r"\w+")


def left(message: str, language: str, calls: Sequence[Wanted]) -> list[str]:
    """The parts that no call has taken up, each a whole request; none where the message is one request."""
    parts = next(iter(cuts(message, language)), [])
    given = set(_words(json.dumps([call.arguments for call in calls], ensure_ascii=False)))
    taken = [not given.isdisjoint(_words(part.said)) for part in parts]
    if parts and not any(taken):
        taken[0] = True  # a call without words, as of what takes no arguments
    return [part.leaning or part.said for part, done in zip(parts, taken, strict=True) if not done]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if len(word) >= SAYING or word.isdigit()]
