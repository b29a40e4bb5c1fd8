"""Arithmetic as people write it, in exact fractions wherever that is possible.

Numbers are fractions until a function such as sqrt makes a float. Nothing is looked up by name but the
constants and functions below.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from simpleeval import InvalidExpression, SimpleEval

from muleteer.tool import Data, Result, tool

LENGTH_LIMIT = 200  # characters; nobody says more in one sentence
SIZE_LIMIT = 1_024  # bits of a number, about 300 digits: instant to compute, and already too long to read
DIGITS = 12  # shown of a number that cannot be written exactly; a float has 15 good ones
NO_EXPRESSION = "it is not an expression of numbers, + - * / ^ ( ) % and functions such as sqrt."
Number = int | float | Fraction
T = TypeVar("T")


class Percent(Fraction):
    """`20%`: a fraction of 100, or of what it is added to."""


@tool(
    effect="read",
    craft="Write only the expression with numbers, + - * / ^ ( ), %, sqrt and such; no units, no currency. "
    "Percent is written %: 'how much is 7.5 percent of 80' is '7.5% of 80', '80 plus 20 percent' is "
    "'80 + 20%'.",
    examples=(
        "what is 12.5 times 8",
        "how much is 15 percent of 240",
        "3400 divided by 12",
        "a tip of 10% on 86",
        "wie viel ist 7 mal 13",
    ),
)
def calculator(expression: str) -> Result:
    """Work out arithmetic, percentages, roots and powers. Use it for every calculation with numbers.

    expression: the arithmetic to work out, such as 17 * 23 or 15% of 40
    """
    shown = " ".join(expression.split()).rstrip("=? ")
    if not shown:
        return Result.error("There is nothing to calculate; give an expression such as 17 * 23.")
    if len(shown) > LENGTH_LIMIT:
        return Result.error(
            f"The expression is longer than {LENGTH_LIMIT} characters; calculate it in parts."
        )
    try:
        text, exact = display(evaluate(shown))
    except ZeroDivisionError:
        return Result.error(f"{shown} divides by zero, which has no result.")
    except ValueError as error:
        return Result.error(f"I cannot calculate {shown}: {error}")
    except OverflowError:
        return Result.error(f"I cannot calculate {shown}: the number is too big.")
    sign = "=" if exact else "\N{ALMOST EQUAL TO}"
    return Result.ok(f"{shown} {sign} {text}", Data({"expression": shown, "value": text, "exact": exact}))


def evaluate(expression: str) -> Number:
    """The value of an expression. Raises `ValueError` with a sentence, `OverflowError` or
    `ZeroDivisionError`."""
    evaluator = SimpleEval(operators=OPERATORS, functions=FUNCTIONS, names=NAMES)
    evaluator.nodes = {
        kind: evaluator.nodes[kind] for kind in (ast.Expr, ast.Name, ast.UnaryOp, ast.BinOp, ast.Call)
    }
    evaluator.nodes[ast.Constant] = _constant
    try:
        value: Number | complex = evaluator.eval(normalize(expression))
    except (InvalidExpression, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(NO_EXPRESSION) from error
    if isinstance(value, complex):
        raise ValueError("the result is not a real number.")
    if not isinstance(value, (int, float, Fraction)):  # a function's name alone
        raise ValueError(NO_EXPRESSION)
    if isinstance(value, float) and not math.isfinite(value):
        raise OverflowError
    return value


def normalize(expression: str) -> str:
    """People's notation as Python's: 1,234 and 3,5 and x and ^ and 20% of 149."""
    text = expression.lower()
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    out: list[str] = []
    calls: list[bool] = []  # for each open bracket: is it a function's?
    for piece in re.findall(r"\d[\d.,]*(?:e[+-]?\d+)?|\.\d+|[a-z_][a-z_0-9]*|\*\*|//|\S", text):
        if piece == "(":
            calls.append(bool(out) and out[-1].isidentifier())
        elif piece == ")" and calls:
            calls.pop()
        out.append(_number(piece, any(calls)) if piece[0].isdigit() else piece)
    return _percent(" ".join(out))


def display(value: Number) -> tuple[str, bool]:
    """A number in plain decimal digits, and whether that is all of it."""
    if isinstance(value, float):
        text = _rounded(0.0 if abs(value) < 10**-DIGITS else value)  # sin(pi) is zero but for rounding
        return text, "." not in text and "e" not in text and abs(value) < 10**DIGITS
    value = Fraction(value)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    text = _digits(value) if rest == 1 else ""
    if text and ("." not in text or len(text) <= 2 * DIGITS):
        return text, True
    return _rounded(float(value)), False


def _rounded(value: float) -> str:
    """The leading digits of a number; in powers of ten only where the zeros would be longer than the rest."""
    text = f"{value:.{DIGITS}g}"
    return _digits(Fraction(text)) if value == 0 or 10**-DIGITS <= abs(value) < 10 ** (2 * DIGITS) else text


def _digits(value: Fraction) -> str:
    """A fraction whose denominator has only twos and fives, written out."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value.numerator * 10**places // value.denominator)).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[: len(digits) - places]}{'.' + digits[len(digits) - places :] if places else ''}"


def _number(token: str, in_call: bool) -> str:
    """A number with English or continental separators as Python writes it; in f(1,2) a comma stays one."""
    if in_call:
        return token
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", token):
        return token.replace(",", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+|\d+,\d+", token):
        return token.replace(".", "").replace(",", ".")
    return token.lstrip("0") if token.isdigit() and token.strip("0") else token


def _percent(text: str) -> str:
    """`20 %` becomes percent(20) unless the % stands between two values, where it is the remainder."""
    text = re.sub(r"([\d.]+) %(?= (?:of|von|de|del|di) )", r"percent(\1)", text)
    text = re.sub(r"\b(?:of|von|de|del|di)\b", "*", text)
    return re.sub(r"([\d.]+) %(?! [\w(.])", r"percent(\1)", text)


def _constant(node: ast.Constant) -> Number:
    if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
        raise TypeError("not a number")
    if isinstance(node.value, float):
        return Fraction(repr(node.value)) if math.isfinite(node.value) else node.value
    return _bounded(Fraction(node.value))


def _bounded(value: T) -> T:
    if (
        isinstance(value, Fraction)
        and max(value.numerator.bit_length(), value.denominator.bit_length()) > SIZE_LIMIT
    ):
        raise OverflowError
    return value


def _sum(sign: int) -> Callable[[Any, Any], Any]:
    def add(left: Any, right: Any) -> Any:
        if isinstance(right, Percent) and not isinstance(left, Percent):
            return _bounded(left + sign * left * Fraction(right))
        return _bounded(left + sign * right)

    return add


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
        if size * abs(exponent.numerator) > SIZE_LIMIT:
            raise OverflowError
        return _bounded(Fraction(base) ** exponent.numerator)
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
    return (
        Fraction(math.floor(abs(Fraction(value)) * scale + Fraction(1, 2)), 1)
        / scale
        * (1 if value >= 0 else -1)
    )


WORDS = (
    (r"what is|how much is|calculate|[$€£]", " "),
    (r"\u00d7|\u00b7|\btimes\b|\bmultiplied by\b|\bmal\b|\bpor\b(?! ?cien)|(?<=[\d) ])x(?=[\d( ])", " * "),
    (r"÷|(?<=\d) ?: ?(?=\d)|\bdivided by\b|\bgeteilt durch\b|\bentre\b", " / "),
    (r"\u2212|\u2013|\bminus\b|\bmenos\b", " - "),
    (r"\bplus\b|\bund\b|\bmás\b", " + "),
    (r"\bper ?cent\b|\bprozent\b|\bpor ?ciento\b", " % "),
    (r"\bsquare root of\b|√", " sqrt "),
    (r"\bsqrt +([\d.]+)", r" sqrt(\1)"),
    (r"\bsquared\b|²", " ** 2 "),
    (r"\bcubed\b|³", " ** 3 "),
    (r"\^", "**"),
    (r"°", " * degree "),
)
OPERATORS = {
    ast.Add: _sum(1),
    ast.Sub: _sum(-1),
    ast.Mult: lambda a, b: _bounded(a * b),
    ast.Div: lambda a, b: _bounded(a / b),
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: _power,
    ast.UAdd: lambda a: a,
    ast.USub: lambda a: Percent(-a) if isinstance(a, Percent) else -a,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "percent": lambda value: Percent(value / 100),
    "sqrt": _root,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": _real(math.asin),
    "acos": _real(math.acos),
    "atan": math.atan,
    "exp": math.exp,
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
