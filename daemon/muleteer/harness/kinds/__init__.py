"""What kind of thing a caller's function does, by its name and the first word of its description.

Pure. Most names begin with a verb; what only looks something up must never be taken for a deed, so that a
function is one only where a verb says so and nothing says that it reads. Verbs are data (`verbs.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

Kind = Literal["reads", "acts", ""]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+")
# "Gets or sets the volume" is both.
_EITHER = re.compile(r"\b(?:and|or|und|oder|y|o|et|ou|e|en|of|ve|veya)\b|[/,&]", re.IGNORECASE)


def kind(name: str, description: str = "") -> Kind:
    """`acts` for what changes something, `reads` for what tells something; empty where neither is sure."""
    named, described = _of_name(_words(name)), _of_text(description)
    if named == "acts":
        return "" if described == "reads" else "acts"
    return named or described


def switches(name: str) -> bool:
    """Whether what acts switches a device: not what only writes, sends or keeps something."""
    return not _verbs()["switches"].isdisjoint(_words(name))


def tells_state(name: str, description: str = "") -> bool:
    """Whether what reads tells how something is now."""
    said = {*_words(name), *_words(description)}
    return kind(name, description) == "reads" and not _verbs()["states"].isdisjoint(said)


def _of_name(words: list[str]) -> Kind:
    verbs = _verbs()
    if not words:
        return ""
    first, last, deed = words[0], words[-1], bool(verbs["acts"] & set(words))
    if first in verbs["reads"] and not (deed and first in verbs["nouns"]):
        return "reads"
    if first not in verbs["acts"] and (last in verbs["tells"] or (last in verbs["values"] and not deed)):
        return "reads"
    return "acts" if deed or first in verbs["nouns"] else ""


def _of_text(description: str) -> Kind:
    """By the verb that its first sentence begins with; what may do either is neither."""
    sentence = re.split(r"(?<=[.!?;])\s", description.strip(), maxsplit=1)[0]
    words, verbs = [_stem(word) for word in _words(sentence)], _verbs()
    if not words:
        return ""
    if words[0] in verbs["reads"]:
        both = _EITHER.search(sentence) and verbs["acts"] & set(words[1:])
        return "" if both else "reads"
    deed = words[0] in verbs["acts"] | verbs["nouns"]
    return "acts" if deed and not verbs["reads"] & set(words[1:]) else ""


def _words(text: str) -> list[str]:
    """In lower case, without what stands before the verb."""
    words = [word.casefold() for word in _WORD.findall(_HUMP.sub(" ", text))]
    while len(words) > 1 and words[0] in _verbs()["before"]:
        del words[0]
    return words


def _stem(word: str) -> str:
    """A verb in its simple form: `turns`, `closes`."""
    known = _verbs()["reads"] | _verbs()["acts"] | _verbs()["nouns"]
    for ending in ("", "s", "es"):
        if word.endswith(ending) and word.removesuffix(ending) in known:
            return word.removesuffix(ending)
    return word


@cache
def _verbs() -> Mapping[str, frozenset[str]]:
    table = tomllib.loads(files(__name__).joinpath("verbs.toml").read_text(encoding="utf-8"))
    return {key: frozenset(words) for key, words in table.items()}
