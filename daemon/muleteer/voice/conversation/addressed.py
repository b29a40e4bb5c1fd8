"""What was said without the wake word before it, whose end may be in the recording. Pure.

The word was heard already, so only its form is in question: a recogniser may write "Jervis,".
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

ALIKE = 0.7  # of a word's letters: "travis" for "jarvis" 0.83, "nabo" for "nabu" 0.75; "what" for either 0.4
_WORD = re.compile(r"[^\W_]+")


def without(text: str, wake: str) -> str:
    """`wake` is the name of the word as a detector has it: `hey_jarvis`."""
    name = _WORD.findall(wake.lower().replace("_", " "))
    said = list(_WORD.finditer(text))
    for length in range(min(len(name), len(said)), 0, -1):
        if all(
            _alike(word.group().lower(), part)
            for word, part in zip(said[:length], name[-length:], strict=True)
        ):
            return text[said[length - 1].end() :].lstrip(" ,.!?;:-")
    return text


def _alike(said: str, name: str) -> bool:
    return said == name or SequenceMatcher(None, said, name).ratio() >= ALIKE
