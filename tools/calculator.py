"""Arithmetic as people write it, with percentages and units, in exact fractions wherever that is possible."""

from __future__ import annotations

import re

from muleteer.tool import Data, Result, figure, joined, say, sums, tool

LENGTH_LIMIT = 200  # characters; nobody says more in one sentence
UNIT_DIGITS = 6  # shown of a measure that cannot be written exactly: nobody measures more finely


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
        value, unit = sums.solve(shown)
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
