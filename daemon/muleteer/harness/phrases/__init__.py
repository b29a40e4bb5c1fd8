"""Every fixed sentence that the harness says to a user, in each language it speaks: one TOML file a language.

Knows sentences and their gaps. Which language a user has is `language.py`'s business. What the shipped tools
say (`muleteer/sentences.py`) is in the files below `tools`, by its English pattern; what another tool or a
model says is its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pt", "tr")


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language. What stands in braces is filled in with `str.format`; `language` is its code."""

    language: str
    floor: str
    not_done: str
    no_skill: str
    no_order: str
    undecided: str
    unmet: str
    not_named: str
    invented: str
    no_source: str
    left_alone: str
    kept: str
    beyond: str
    left_out: str
    declined: str
    changed: str
    unattended: str
    question: str
    and_: str
    no_arguments: str
    writes: str
    acts: str
    tokens_spent: str
    seconds_over: str


@cache
def phrases(language: str) -> Phrases:
    """The sentences in one of `LANGUAGES`."""
    return Phrases(language, **_table(f"{language}.toml"))


@cache
def tools_table(language: str) -> Mapping[str, str]:
    """What the shipped tools say in this language, by the English pattern; nothing for English."""
    return {} if language == LANGUAGES[0] else _table("tools", f"{language}.toml")


def _table(*path: str) -> dict[str, str]:
    return tomllib.loads(files(__name__).joinpath(*path).read_text(encoding="utf-8"))


ENGLISH = phrases("en")
