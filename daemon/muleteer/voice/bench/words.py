"""How far two texts are apart in words: what was said, and what was understood.

Pure. Texts are compared as they are spoken, without case and punctuation; how numbers and units are spoken is
the caller's business.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence


def words(text: str) -> list[str]:
    """In lower case; a hyphen parts words, an apostrophe does not."""
    plain = unicodedata.normalize("NFC", text).casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return re.findall(r"\w+(?:'\w+)*", plain)


def errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """The least number of words to put in, leave out or exchange that makes one of the other."""
    row = list(range(len(heard) + 1))
    for i, one in enumerate(said, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]
