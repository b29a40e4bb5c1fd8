"""Quantities with units, by pint, which takes a third of a second to load and most sums do without.

Knows units by the words that people use. Raises `ValueError` with a sentence for what is none, and lets
pint's `TypeError`s through (`mismatch`).
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import Any

from muleteer.sentences import say
from muleteer.sums import words
from muleteer.sums.functions import NAMES, PLAIN, Number, bounded, finite

NO_EXPRESSION = say("it is not an expression of numbers, units, + - * / ^ ( ) % and functions such as sqrt.")
OTHER_WORDS = "|".join((*NAMES, "of", "von", "de", "del", "di"))
WORD = rf"(?<![^\W\d])(?!(?:{OTHER_WORDS})\b|(?:{'|'.join(PLAIN)}) ?\()[^\W\d]\w*(?: ?\*\* ?[1-9]\b)?"
UNIT = re.compile(rf"{WORD}(?: ?[*/]? ?{WORD})*", re.IGNORECASE)


def unit_of(text: str) -> Any:
    """The unit of pint's that words such as `km / h` stand for. Raises `ValueError`."""
    unit = _registry().Unit("")
    for sign, word, power in re.findall(r"([*/]?) ?([^\W\d]\w*)(?: ?\*\* ?(\d))?", text):
        unit *= _named(word) ** (int(power or 1) * (-1 if sign == "/" else 1))
    return unit


def _named(word: str) -> Any:
    """The unit of one word in any case or number. Raises `ValueError`."""
    if name := words.UNITS.get(word.lower()):
        return _registry().Unit(name)
    for tried, strict in ((word, True), (word.lower(), True), (word, False)):
        if found := _registry().parse_unit_name(tried, strict):
            return _registry().Unit("".join(found[0][:2]))
    if word[-1] in "23" and word[:-1].isalpha():  # m2
        return _named(word[:-1]) ** int(word[-1])
    raise ValueError(f"'{word}' is neither a unit nor a function that I know.")


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(non_int_type=Fraction)


def quantity(number: Any, unit: Any) -> Any:
    """So many of a unit of pint's."""
    return _registry().Quantity(Fraction(plain(number)), unit)


def plain(value: Any) -> Any:
    """A value as a plain number; degrees are what they are in mathematics. Raises `ValueError`."""
    if not hasattr(value, "magnitude"):
        return value
    if not value.dimensionless:
        raise ValueError(f"a plain number is needed there, not {symbols(value)}.")
    return bounded(value.to_base_units().magnitude)


def converted(value: Any, target: str) -> Number:
    """How many of the unit `target` a value is. Raises `ValueError`."""
    text = " ".join(words.signs(target).split())
    if not UNIT.fullmatch(text):
        raise ValueError(f"'{target}' is not a unit that I know.")
    unit = unit_of(text)
    if not hasattr(value, "magnitude"):
        if not unit.dimensionless:
            raise ValueError("say which unit the number has, as in 3 miles in km.")
        value = quantity(value, _registry().Unit(""))
    number: Number = bounded(value.to(unit).magnitude)
    return finite(number)


def tidied(quantity: Any) -> Any:
    """A quantity without two units that measure the same: 40 km for 80 km/h * 30 min. Raises
    `OverflowError`."""
    of_kind: dict[Any, str] = {}
    unit = _registry().Unit("")
    for name, power in quantity.unit_items():
        unit *= _registry().Unit(of_kind.setdefault(_registry().Unit(name).dimensionality, name)) ** power
    return finite(bounded(quantity if unit == quantity.units else quantity.to(unit)))


def symbols(quantity: Any) -> str:
    """The units of a quantity in short: km/h."""
    over: list[str] = []
    under: list[str] = []
    for name, power in quantity.unit_items():
        symbol = _registry().get_symbol(name) + (f"^{abs(power)}" if abs(power) != 1 else "")
        (over if power > 0 else under).append(symbol)
    return "/".join([" ".join(over) or "1", *under]) if over or under else ""


def mismatch(error: TypeError) -> str:
    """What pint did not put together, as a sentence."""
    kind = type(error).__name__
    if kind == "OffsetUnitCalculusError" or "offset" in getattr(error, "extra_msg", ""):
        return "temperatures can be converted and subtracted, not added or multiplied."
    if kind != "DimensionalityError":
        return NO_EXPRESSION
    one, other = (
        symbols(_registry().Quantity(1, each)) or "a plain number"
        for each in (error.units1, error.units2)  # type: ignore[attr-defined]  # of a DimensionalityError
    )
    return f"{one} and {other} do not measure the same thing."
