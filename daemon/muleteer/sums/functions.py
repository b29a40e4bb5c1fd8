"""The operators and functions of sums, on exact fractions wherever that is possible.

Knows numbers and percentages; of quantities with units only that they have a `magnitude` (`units.py`). All
raise `OverflowError` for what is too big, and `ValueError` with a sentence where there is no value.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

SIZE_LIMIT = 1_024  # bits of a number, about 300 digits: instant to compute, and already too long to read
POWER_LIMIT = 9  # of a unit; a second moment of area has 4
Number = int | float | Fraction
T = TypeVar("T")


class Percent(Fraction):
    """`20%`: a fraction of 100, or of what it is added to."""


def constant(node: ast.Constant) -> Number:
    """What a number in a sum is; a decimal is exact. Raises `TypeError` for what is no number."""
    if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
        raise TypeError("not a number")
    if isinstance(node.value, float):
        return Fraction(repr(node.value)) if math.isfinite(node.value) else node.value
    return bounded(Fraction(node.value))


def bounded(value: T) -> T:
    """The value, if it has at most `SIZE_LIMIT` bits."""
    number = getattr(value, "magnitude", value)
    if (
        isinstance(number, Fraction)
        and max(number.numerator.bit_length(), number.denominator.bit_length()) > SIZE_LIMIT
    ):
        raise OverflowError
    return value


def finite(value: T) -> T:
    """The value, unless it is infinite or none."""
    if isinstance(value, float) and not math.isfinite(value):
        raise OverflowError
    return value


def _sum(sign: int) -> Callable[[Any, Any], Any]:
    def add(left: Any, right: Any) -> Any:
        if isinstance(right, Percent) and not isinstance(left, Percent):
            return bounded(left + sign * left * Fraction(right))
        return bounded(left + right if sign > 0 else left - right)

    return add


def power(base: Any, exponent: Any) -> Any:
    """A number or a quantity to the power of a plain number."""
    if hasattr(base, "magnitude"):
        if int(exponent) != exponent or abs(exponent) > POWER_LIMIT:
            raise OverflowError
        return bounded(base ** int(exponent))
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
        if size * abs(exponent.numerator) > SIZE_LIMIT:
            raise OverflowError
        return bounded(Fraction(base) ** exponent.numerator)
    return float(base) ** float(exponent)


def _real(function: Callable[[float], float]) -> Callable[[Any], float]:
    def call(value: Any) -> float:
        try:
            return function(value)
        except ValueError:
            raise ValueError("the function has no value there.") from None

    return call


def _root(value: Any) -> Any:
    if value < 0:
        raise ValueError("a negative number has no real root.")
    if isinstance(value, Fraction):
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return Fraction(top, bottom)
    return math.sqrt(value)


def _logarithm(value: Any, base: Any = 10) -> float:
    if value <= 0 or base <= 0 or base == 1:
        raise ValueError("a logarithm needs a number above zero.")
    return math.log10(value) if base == 10 else math.log(value) / math.log(base)


def _round(value: Any, places: Any = 0) -> Any:
    """Half away from zero, as at school; Python rounds half to even."""
    if abs(places) > 100:
        raise OverflowError
    scale = Fraction(10) ** int(places)
    steps = math.floor(abs(Fraction(value)) * scale + Fraction(1, 2))
    return steps / scale if value >= 0 else -steps / scale


OPERATORS = {
    ast.Add: _sum(1),
    ast.Sub: _sum(-1),
    ast.Mult: lambda a, b: bounded(a * b),
    ast.Div: lambda a, b: bounded(a / b),
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.USub: lambda a: Percent(-a) if isinstance(a, Percent) else -a,
}
PLAIN: dict[str, Callable[..., Any]] = {
    **{name: _real(getattr(math, name)) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "exp")},
    "percent": lambda value: Percent(value / 100),
    "sqrt": _root,
    "log": _logarithm,
    "log10": _logarithm,
    "ln": lambda value: _logarithm(value, math.e),
    "abs": abs,
    "round": _round,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
    "min": min,
    "max": max,
}
NAMES = {"pi": math.pi, "e": math.e, "degree": math.pi / 180}
