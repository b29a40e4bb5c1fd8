"""A sum as people write it, and its value: notation, percentages, conversions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from simpleeval import InvalidExpression, SimpleEval

from muleteer.sentences import say
from muleteer.sums import units, words
from muleteer.sums.functions import NAMES, OPERATORS, PLAIN, Number, constant, finite, power
from muleteer.sums.units import NO_EXPRESSION, UNIT

NO_RATES = say("exchange rates change every day, and I do not have them.")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: (lambda *values, of=function: of(*map(units.plain, values))) for name, function in PLAIN.items()
    },
    "quantity": units.quantity,
}
NUMBER = r"(?:\d+ )?\d+/\d+|\d+\*\*-?\d+|\d[\d.,]*+(?:e[+-]?\d+)?+|\.\d+|(?<![\w.])"
QUANTITY = re.compile(rf"({NUMBER}) ?({UNIT.pattern})", re.IGNORECASE)
QUANTITIES = re.compile(rf"(?:{QUANTITY.pattern} ?)+", re.IGNORECASE)
AFTER_BRACKET = re.compile(rf"\) ?({UNIT.pattern})", re.IGNORECASE)
CONVERSION = re.compile(
    r"(.*\S) *(?:(?<=\W)(?:in|to|into|as|nach|en)|->|\u2192) +([^\W\d][^\d()]*[23]?|[°%][^\d()]*)",
    re.IGNORECASE,
)


def solve(expression: str) -> tuple[Number, str]:
    """The value of an expression and its unit: the one asked for, if one was. Raises like `evaluate`."""
    try:
        return _solve(expression)
    except TypeError as error:
        raise ValueError(units.mismatch(error)) from error


def _solve(expression: str) -> tuple[Number, str]:
    text = words.plain_question(expression)
    parts = CONVERSION.fullmatch(text)
    text, target = parts.groups() if parts else (text, "")
    money = [each for each in words.CURRENCIES if re.search(each, expression, re.IGNORECASE)]
    if len(money) > 1 or (money and re.search(money[0], target, re.IGNORECASE)):
        raise ValueError(NO_RATES)
    value = evaluate(text)
    if target.lower() in words.PERCENT:
        return units.plain(value) * 100, "%"
    if target:
        return units.converted(value, target), target
    if not hasattr(value, "magnitude") or value.unitless:
        return units.plain(value), ""
    value = units.tidied(value)
    return value.magnitude, units.symbols(value)


def evaluate(expression: str) -> Any:
    """The value of an expression: a number, or a quantity of pint's where it has units. Raises `ValueError`
    with a sentence, `OverflowError`, `ZeroDivisionError`, and `TypeError` for what does not go together."""
    found: dict[str, Any] = {}
    evaluator = SimpleEval(operators=OPERATORS | {ast.Pow: _power}, functions=FUNCTIONS)
    evaluator.nodes = {
        kind: evaluator.nodes[kind] for kind in (ast.Expr, ast.Name, ast.UnaryOp, ast.BinOp, ast.Call)
    }
    evaluator.nodes[ast.Constant] = constant
    try:
        text = normalize(expression, found)
        evaluator.names = NAMES | found
        value: Any = evaluator.eval(text)
    except (InvalidExpression, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(NO_EXPRESSION) from error
    if isinstance(value, complex):
        raise ValueError("the result is not a real number.")
    if not isinstance(value, (int, float, Fraction)) and not hasattr(value, "magnitude"):  # a function alone
        raise ValueError(NO_EXPRESSION)
    return finite(value)


def normalize(expression: str, found: dict[str, Any]) -> str:
    """People's notation as Python's: 1,234 and 3,5 and x and ^ and 20% of 149 and 5 ft 11 in. `found` is
    filled with the units in it, each by a name."""

    def quantities(match: re.Match[str]) -> str:
        parts = []
        for number, unit in QUANTITY.findall(match[0]):
            name = f"u{len(found)}"
            found[name] = units.unit_of(unit)
            number = re.sub(r"(\d) (\d)", r"\1+\2", number.strip().lower())  # 1 1/2
            parts.append(f"quantity({words.number(number) or 1}, {name})")
        return f"({' + '.join(parts)}) "

    text = words.signs(expression)
    for currency in words.CURRENCIES:
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
        out.append(words.number(piece) if piece[0].isdigit() and not any(calls) else piece)
    return _percent(" ".join(out))


def _power(base: Any, exponent: Any) -> Any:
    return power(base, units.plain(exponent))


def _percent(text: str) -> str:
    """`20 %` becomes percent(20) unless the % stands between two values, where it is the remainder."""
    text = re.sub(r"([\d.]+) %(?= (?:of|von|de|del|di) )", r"percent(\1)", text)
    text = re.sub(r"\b(?:of|von|de|del|di)\b", "*", text)
    return re.sub(r"([\d.]+) %(?! [\w(.])", r"percent(\1)", text)
