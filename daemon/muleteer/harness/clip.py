"""Cutting a text where it does not fit, with a mark that says so. Pure."""

from __future__ import annotations

import re

# A word that the cut went through: half a number is another number. Longer runs are no words.
_HALF_WORD = re.compile(r"(?<=\s)\S{1,80}\Z")


def clipped(text: str, limit: int) -> str:
    """`text` if it has at most `limit` characters, else its beginning and how many characters are gone."""
    if len(text) <= limit:
        return text
    kept = text[:limit]
    if not text[limit].isspace():
        kept = _HALF_WORD.sub("", kept)
    return f"{kept.rstrip()} [... {len(text) - len(kept)} characters cut]"
