"""What people wish for that code answers itself where no tool takes it up, one TOML file a language.

`deeds` are orders for something in the world (a call, a pizza, louder), `live` questions that only a source
of news could answer (the weather), `forget` wishes that something noted be deleted, `forbidden` orders not
to do something. A model answers such messages with a promise, or with what it once read. A message that only
tells (`states`) wants nothing: not to be noted, nor looked up. `told` are words of what the user said or
wrote before, which is none of the news. In them `$open` stands for the beginning of a
message, with any of the `polite` words. Pure; knows openings, and not whether a tool is there.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from muleteer.harness.phrases import LANGUAGES

Kind = Literal["", "forget", "forbidden", "live", "deeds", "told"]
KINDS: tuple[Kind, ...] = ("forget", "forbidden", "live", "deeds")
"""In the order in which they are looked for: "don't call my mother" is no wish for a call."""


def kind(message: str) -> Kind:
    """What a message wishes for, as far as its words tell, `told` for nothing; empty for everything else."""
    for each in KINDS:
        if _matching(each, message) and not (each == "live" and _matching("told", message)):
            return each
    return "told" if "?" not in message and _matching("states", message) else ""


def alike(message: str, other: str) -> bool:
    """Whether both order the same kind of deed, in the same words."""
    return bool(_matching("deeds", message) & _matching("deeds", other))


def _matching(kind: str, message: str) -> set[str]:
    """The patterns of a kind that a message matches, of all languages: which one a message is in is hard to
    tell from three words."""
    plain = " ".join(message.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    return {pattern.pattern for pattern in _patterns(kind) if pattern.search(plain)}


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    found: list[str] = []
    for language in LANGUAGES:
        lists = tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
        opening = rf"^\W*(?:(?:{'|'.join(lists['polite'])})\W+)*"
        found += [each.replace("$open", opening) for each in lists[kind]]
    return tuple(re.compile(each, re.IGNORECASE) for each in found)
