"""Numerals in words. Pure. Knows how a language writes numbers; not what is counted."""

from __future__ import annotations

import re
from decimal import Decimal

from muleteer.voice.spoken.words import Words

MOST_DIGITS = 15  # longer ones are no amounts, and CLDR's rules end at 18
FIRST_YEAR, LAST_YEAR = 1100, 2099  # four digits that are read as a year where nothing is counted
_SPACES = "\u00a0\u202f"  # that some write between thousands


class Numbers:
    """Of one language. `pattern` matches a numeral without its sign."""

    def __init__(self, words: Words) -> None:
        self._words = words
        group, decimal = re.escape(words.group), re.escape(words.decimal)
        either = decimal if words.decimal == "." else "[.,]"
        thousands = rf"\d{{1,3}}(?:[{group}{_SPACES}]\d{{3}})+(?![\d{group}])(?:{decimal}\d+)?"
        self.pattern = rf"(?:{thousands}|\d+(?:{either}\d+)?)"

    def value(self, numeral: str) -> Decimal:
        """Of what `pattern` matches."""
        words = self._words
        thousands = re.fullmatch(
            rf"\d{{1,3}}(?:[{re.escape(words.group)}{_SPACES}]\d{{3}})+(\D\d+)?", numeral
        )
        if thousands:
            cut = len(numeral) - len(thousands[1] or "")
            whole, rest = re.sub(r"\D", "", numeral[:cut]), numeral[cut + 1 :]
        else:
            whole, _, rest = numeral.replace(",", ".").partition(".")
        return Decimal(f"{whole}.{rest}" if rest else whole)

    def read(self, numeral: str, noun: str = "", before: str = "") -> str:
        """In words; `noun` is what is counted, `before` the text that it follows."""
        value = self.value(numeral)
        text = f"{value:f}"
        whole, _, rest = text.partition(".")
        if len(whole) > MOST_DIGITS or (len(numeral) > 1 and numeral[0] == "0" and numeral.isdecimal()):
            return self.digits(numeral)
        if rest:
            return f"{self._words.spell(int(whole))} {self._words.point} {self.digits(rest)}"
        if numeral.isdecimal() and not noun and FIRST_YEAR <= int(whole) <= LAST_YEAR:
            return self._words.spell(int(whole), self._words.year)
        return self.count(int(whole), noun, before)

    def count(self, number: int, noun: str = "", before: str = "") -> str:
        """Of so many of these."""
        words = self._words
        if not noun:
            return words.spell(number)
        is_bent = words.bending and re.search(rf"\b(?:{words.bending})\s\Z", before, re.IGNORECASE)
        rules = words.bent if is_bent else words.numbers
        return words.spell(number, rules[-1 if words.is_feminine(noun.split()[-1]) else 0])

    def digits(self, text: str) -> str:
        """One after the other."""
        return " ".join(self._words.spell(int(each)) for each in text if each.isdecimal())
