"""What it takes to read a language out: its own table from `languages`, the names of months, units and money
that CLDR has (by Babel), and CLDR's rules for numbers in words (by unicode-rbnf). Knows no text.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from babel import Locale
from unicode_rbnf import RbnfEngine

LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pt", "tr")
_STANDALONE = "spellout-numbering"


@dataclass(frozen=True, slots=True)
class Clock:
    """Times of day. `words` is a pattern of what may follow one and is said already; `hour_gender` is the
    place in `Words.numbers` of an hour's number."""

    hours: int
    full: str
    early: str
    time: str
    seconds: str
    halves: list[str]
    words: str
    hour_gender: int
    one: str = ""
    special: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Dates:
    """Days of a month: "ordinal", "cardinal", or only the "first" is an ordinal. After one of the words
    `bending` it is formed by the rules `bent`."""

    day: str
    year: str
    days: str
    order: str
    bent: str = ""
    bending: str = ""


@dataclass(frozen=True)
class Words:
    """One language. The tables are by what is written; patterns are those of `re`."""

    code: str
    numbers: list[str]
    year: str
    ordinal: str
    feminine: str
    noun: str
    ordinals: str
    point: str
    group: str
    decimal: str
    range: str
    clock: Clock
    date: Dates
    money: dict[str, str]
    signs: dict[str, str]
    words: dict[str, str]
    abbreviations: dict[str, str]
    before_numbers: dict[str, str]
    fractions: dict[str, str]
    units: dict[str, str]
    bending: str = ""
    bent: list[str] = field(default_factory=list)
    articles: str = ""

    @property
    def locale(self) -> Locale:
        """CLDR's names."""
        return Locale(self.code)

    def spell(self, number: int, rules: str = _STANDALONE) -> str:
        """By rules of CLDR, such as "spellout-ordinal"."""
        return _engine(self.code).format_number(number, ruleset_names=[rules]).text

    def months(self) -> dict[str, int]:
        """By every way to write one, also at the beginning of a sentence."""
        found: dict[str, int] = {}
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in self.locale.months[context][width].items():
                    short = name.rstrip(".")
                    found |= {short: int(number), short[:1].upper() + short[1:]: int(number)}
        return found

    def is_feminine(self, noun: str) -> bool:
        """By its ending, which is right for most."""
        return bool(self.feminine and re.fullmatch(self.feminine, noun.lower()))


@cache
def words(language: str) -> Words:
    """Of one of `LANGUAGES`; English for any other."""
    code = language if language in LANGUAGES else LANGUAGES[0]
    text = files(__package__).joinpath("languages", f"{code}.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = {"units": {}} | tomllib.loads(text)
    clock, date = Clock(**table.pop("clock")), Dates(**table.pop("date"))
    return Words(code=code, clock=clock, date=date, **table)


@cache
def _engine(code: str) -> RbnfEngine:
    return RbnfEngine.for_language(code)
