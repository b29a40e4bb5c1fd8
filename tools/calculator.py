"""Arithmetic as people write it, with percentages and units, in exact fractions wherever that is possible.

Numbers are fractions until a function such as sqrt makes a float. Names are the constants and functions
below and the units of pint, which takes a third of a second to load, and most sums have none.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar

from simpleeval import InvalidExpression, SimpleEval

from muleteer.tool import Data, Result, figure, joined, say, sums, tool

LENGTH_LIMIT = 200  # characters; nobody says more in one sentence
SIZE_LIMIT = 1_024  # bits of a number, about 300 digits: instant to compute, and already too long to read
UNIT_DIGITS = 6  # shown of a measure that cannot be written exactly: nobody measures more finely
POWER_LIMIT = 9  # of a unit; a second moment of area has 4
NO_EXPRESSION = say("it is not an expression of numbers, units, + - * / ^ ( ) % and functions such as sqrt.")
NO_RATES = say("exchange rates change every day, and I do not have them.")
Number = int | float | Fraction
T = TypeVar("T")


class Percent(Fraction):
    """`20%`: a fraction of 100, or of what it is added to."""


@tool(
    effect="read",
    exact=("expression",),
    craft="Write only the expression with numbers, units, + - * / ^ ( ), %, sqrt and such; no currency. "
    "Percent is written %: 'how much is 7.5 percent of 80' is '7.5% of 80', '80 plus 20 percent' is "
    "'80 + 20%'. A conversion is written with in: '5 pounds in kg', '70 F in C'.",
    examples=(
        "what is 12.5 times 8",
        "how much is 15 percent of 240",
        "3400 divided by 12",
        "a tip of 10% on 86",
        "wie viel ist 7 mal 13",
        "how many grams are 9 ounces",
        "6 + 9 - 4",
        "5 miles in kilometres",
        "the bill is 90 and there are 3 of us, what does each pay",
        "cuánto es 8 por 25",
        "was ergibt 400 geteilt durch 16",
        "combien font 12 fois 15",
        "quanto fa 90 diviso 6",
        "30 artı 12 kaç eder",
        "hoeveel is 8 keer 12",
        "20 °C in Fahrenheit",
        "eggs for 2 people are 4, how many for 5",
        "wie viel Gramm sind 2 Unzen",
        "cuál es el 10 por ciento de 80",
        "divide 81 by 9",
        "how hot is 212 Fahrenheit in Celsius",
        "rechne 48 minus 19",
        "wie viel sind 30 Prozent von 90",
        "19 Prozent Mehrwertsteuer auf 250",
        "Wurzel aus 225",
        "wie viele Kilometer sind 12 Meilen",
        "cuántos kilos son 10 libras",
        "combien de grammes font 3 onces",
        "half of 76",
        "if 5 apples cost 3 euros, what do 8 cost",
        "how many hours are 450 minutes",
        "the average of 4, 8 and 15",
        "square root of 81",
        "convert 2 cups to millilitres",
        "split 120 between 5 people",
        "how far do I get in 3 hours at 60 km/h",
    ),
)
def calculator(expression: str) -> Result:
    """Work out arithmetic, percentages, roots and powers, and convert units. Use it for every calculation
    with numbers.

    expression: the arithmetic to work out, such as 17 * 23, 15% of 40 or 6 ft in cm
    """
    shown = " ".join(expression.split()).rstrip("=? ")
    if not shown:
        return Result.error(say("There is nothing to calculate; give an expression such as 17 * 23."))
    if len(shown) > LENGTH_LIMIT:
        pattern = "The expression is longer than {most} characters; calculate it in parts."
        return Result.error(say(pattern, most=LENGTH_LIMIT))
    try:
        value, unit = solve(shown)
        text, exact = sums.digits(value, UNIT_DIGITS if unit else sums.DIGITS)
    except ZeroDivisionError:
        return Result.error(say("{sum} divides by zero, which has no result.", sum=_figures(shown)))
    except ValueError as error:
        return Result.error(say("I cannot calculate {sum}: {why}", sum=_figures(shown), why=error.args[0]))
    except OverflowError:
        return Result.error(say("I cannot calculate {sum}: the number is too big.", sum=_figures(shown)))
    values: dict[str, object] = {"expression": shown, "value": text, "exact": exact}
    sign = "=" if exact else "\N{ALMOST EQUAL TO}"
    said = joined(" ", (_figures(shown), sign, figure(text), unit))
    return Result.ok(said, Data(values | ({"unit": unit} if unit else {})))


def _figures(shown: str) -> str:
    """A sum whose numbers are written as its result is; within a function a comma parts two numbers."""
    if re.search(r"[a-z]\w* ?\(", shown, re.IGNORECASE):
        return shown
    pieces = re.split(r"(\d[\d.,]*[.,]\d+)", shown)
    return joined("", (figure(sums.number(each)) if n % 2 else each for n, each in enumerate(pieces)))


def solve(expression: str) -> tuple[Number, str]:
    """The value of an expression and its unit: the one asked for, if one was. Raises like `evaluate`."""
    try:
        return _solve(expression)
    except TypeError as error:
        raise ValueError(_mismatch(error)) from error


def _solve(expression: str) -> tuple[Number, str]:
    text = sums.plain_question(expression)
    parts = CONVERSION.fullmatch(text)
    text, target = parts.groups() if parts else (text, "")
    money = [each for each in sums.CURRENCIES if re.search(each, expression, re.IGNORECASE)]
    if len(money) > 1 or (money and re.search(money[0], target, re.IGNORECASE)):
        raise ValueError(NO_RATES)
    value = evaluate(text)
    if target.lower() in sums.PERCENT:
        return _plain(value) * 100, "%"
    if target:
        return _converted(value, target), target
    if not hasattr(value, "magnitude") or value.unitless:
        return _plain(value), ""
    value = _tidied(value)
    return value.magnitude, _symbols(value)


def evaluate(expression: str) -> Any:
    """The value of an expression: a number, or a quantity of pint's where it has units. Raises `ValueError`
    with a sentence, `OverflowError`, `ZeroDivisionError`, and `TypeError` for what does not go together."""
    units: dict[str, Any] = {}
    evaluator = SimpleEval(operators=OPERATORS, functions=FUNCTIONS | {"quantity": _quantity})
    evaluator.nodes = {
        kind: evaluator.nodes[kind] for kind in (ast.Expr, ast.Name, ast.UnaryOp, ast.BinOp, ast.Call)
    }
    evaluator.nodes[ast.Constant] = _constant
    try:
        text = normalize(expression, units)
        evaluator.names = NAMES | units
        value: Any = evaluator.eval(text)
    except (InvalidExpression, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(NO_EXPRESSION) from error
    if isinstance(value, complex):
        raise ValueError("the result is not a real number.")
    if not isinstance(value, (int, float, Fraction)) and not hasattr(value, "magnitude"):  # a function alone
        raise ValueError(NO_EXPRESSION)
    return _finite(value)


def normalize(expression: str, units: dict[str, Any]) -> str:
    """People's notation as Python's: 1,234 and 3,5 and x and ^ and 20% of 149 and 5 ft 11 in. `units` is
    filled with the units in it, each by a name."""

    def quantities(match: re.Match[str]) -> str:
        parts = []
        for number, unit in QUANTITY.findall(match[0]):
            name = f"u{len(units)}"
            units[name] = _unit(unit)
            number = re.sub(r"(\d) (\d)", r"\1+\2", number.strip().lower())  # 1 1/2
            parts.append(f"quantity({sums.number(number) or 1}, {name})")
        return f"({' + '.join(parts)}) "

    text = sums.signs(expression)
    for currency in sums.CURRENCIES:
        text = re.sub(currency, " ", text, flags=re.IGNORECASE)
    text = AFTER_BRACKET.sub(r") * 1 \1", " ".join(text.split()))
    text = QUANTITIES.sub(quantities, text).lower()
    out: list[str] = []
    calls: list[bool] = []  # for each open bracket: is it a function's?
    for piece in re.findall(r"\d[\d.,]*(?:e[+-]?\d+)?|\.\d+|[a-z_][a-z_0-9]*|\*\*|//|\S", text):
        if piece == "(":
            calls.append(bool(out) and out[-1].isidentifier())
        elif piece == ")" and calls:
            calls.pop()
        out.append(sums.number(piece) if piece[0].isdigit() and not any(calls) else piece)
    return _percent(" ".join(out))


def _unit(text: str) -> Any:
    """The unit of pint's that words such as `km / h` stand for. Raises `ValueError`."""
    unit = _registry().Unit("")
    for sign, word, power in re.findall(r"([*/]?) ?([^\W\d]\w*)(?: ?\*\* ?(\d))?", text):
        unit *= _named(word) ** (int(power or 1) * (-1 if sign == "/" else 1))
    return unit


def _named(word: str) -> Any:
    """The unit of one word in any case or number. Raises `ValueError`."""
    if name := sums.UNITS.get(word.lower()):
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


def _quantity(number: Any, unit: Any) -> Any:
    return _registry().Quantity(Fraction(_plain(number)), unit)


def _plain(value: Any) -> Any:
    """A value as a plain number; degrees are what they are in mathematics. Raises `ValueError`."""
    if not hasattr(value, "magnitude"):
        return value
    if not value.dimensionless:
        raise ValueError(f"a plain number is needed there, not {_symbols(value)}.")
    return _bounded(value.to_base_units().magnitude)


def _converted(value: Any, target: str) -> Number:
    """How many of the unit `target` a value is. Raises `ValueError`."""
    text = " ".join(sums.signs(target).split())
    if not UNIT.fullmatch(text):
        raise ValueError(f"'{target}' is not a unit that I know.")
    unit = _unit(text)
    if not hasattr(value, "magnitude"):
        if not unit.dimensionless:
            raise ValueError("say which unit the number has, as in 3 miles in km.")
        value = _quantity(value, _registry().Unit(""))
    number: Number = _bounded(value.to(unit).magnitude)
    return _finite(number)


def _tidied(quantity: Any) -> Any:
    """A quantity without two units that measure the same: 40 km for 80 km/h * 30 min. Raises
    `OverflowError`."""
    of_kind: dict[Any, str] = {}
    unit = _registry().Unit("")
    for name, power in quantity.unit_items():
        unit *= _registry().Unit(of_kind.setdefault(_registry().Unit(name).dimensionality, name)) ** power
    return _finite(_bounded(quantity if unit == quantity.units else quantity.to(unit)))


def _symbols(quantity: Any) -> str:
    """The units of a quantity in short: km/h."""
    over: list[str] = []
    under: list[str] = []
    for name, power in quantity.unit_items():
        symbol = _registry().get_symbol(name) + (f"^{abs(power)}" if abs(power) != 1 else "")
        (over if power > 0 else under).append(symbol)
    return "/".join([" ".join(over) or "1", *under]) if over or under else ""


def _mismatch(error: TypeError) -> str:
    """What pint did not put together, as a sentence."""
    kind = type(error).__name__
    if kind == "OffsetUnitCalculusError" or "offset" in getattr(error, "extra_msg", ""):
        return "temperatures can be converted and subtracted, not added or multiplied."
    if kind != "DimensionalityError":
        return NO_EXPRESSION
    one, other = (
        _symbols(_registry().Quantity(1, each)) or "a plain number"
        for each in (error.units1, error.units2)  # type: ignore[attr-defined]  # of a DimensionalityError
    )
    return f"{one} and {other} do not measure the same thing."


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
    number = getattr(value, "magnitude", value)
    if (
        isinstance(number, Fraction)
        and max(number.numerator.bit_length(), number.denominator.bit_length()) > SIZE_LIMIT
    ):
        raise OverflowError
    return value


def _finite(value: T) -> T:
    if isinstance(value, float) and not math.isfinite(value):
        raise OverflowError
    return value


def _sum(sign: int) -> Callable[[Any, Any], Any]:
    def add(left: Any, right: Any) -> Any:
        if isinstance(right, Percent) and not isinstance(left, Percent):
            return _bounded(left + sign * left * Fraction(right))
        return _bounded(left + right if sign > 0 else left - right)

    return add


def _power(base: Any, exponent: Any) -> Any:
    exponent = _plain(exponent)
    if hasattr(base, "magnitude"):
        if int(exponent) != exponent or abs(exponent) > POWER_LIMIT:
            raise OverflowError
        return _bounded(base ** int(exponent))
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
    steps = math.floor(abs(Fraction(value)) * scale + Fraction(1, 2))
    return steps / scale if value >= 0 else -steps / scale


OPERATORS = {
    ast.Add: _sum(1),
    ast.Sub: _sum(-1),
    ast.Mult: lambda a, b: _bounded(a * b),
    ast.Div: lambda a, b: _bounded(a / b),
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: _power,
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
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: (lambda *values, of=function: of(*map(_plain, values))) for name, function in PLAIN.items()
}
OTHER_WORDS = "|".join((*NAMES, "of", "von", "de", "del", "di"))
WORD = rf"(?<![^\W\d])(?!(?:{OTHER_WORDS})\b|(?:{'|'.join(PLAIN)}) ?\()[^\W\d]\w*(?: ?\*\* ?[1-9]\b)?"
UNIT = re.compile(rf"{WORD}(?: ?[*/]? ?{WORD})*", re.IGNORECASE)
NUMBER = r"(?:\d+ )?\d+/\d+|\d+\*\*-?\d+|\d[\d.,]*+(?:e[+-]?\d+)?+|\.\d+|(?<![\w.])"
QUANTITY = re.compile(rf"({NUMBER}) ?({UNIT.pattern})", re.IGNORECASE)
QUANTITIES = re.compile(rf"(?:{QUANTITY.pattern} ?)+", re.IGNORECASE)
AFTER_BRACKET = re.compile(rf"\) ?({UNIT.pattern})", re.IGNORECASE)
CONVERSION = re.compile(
    r"(.*\S) *(?:(?<=\W)(?:in|to|into|as|nach|en)|->|\u2192) +([^\W\d][^\d()]*[23]?|[°%][^\d()]*)",
    re.IGNORECASE,
)
