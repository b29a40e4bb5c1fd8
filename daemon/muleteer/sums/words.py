"""Sums and numbers as people say and write them, in a few languages, and numbers in plain digits.

Knows words and notation; calculates nothing and knows no units. Tools import it from `muleteer.tool`.
"""

from __future__ import annotations

import re
from fractions import Fraction

DIGITS = 12  # shown of a number that cannot be written exactly; a float has 15 good ones
WORDS = (
    (r"\u00b0 ?(?=[cf]\b)|\b(?:degrees?|grad|grados) (?=celsius|fahrenheit|[cf]\b)", " deg_"),
    (r"\bsquare root of\b|√", " sqrt "),
    (r"\b(?:square|sq) ([a-z]+)", r" \1 ** 2 "),
    (r"\b(?:cubic|cu) ([a-z]+)", r" \1 ** 3 "),
    (r"\bfl(?:uid)? ?(?=oz|ounce)", " fl_"),
    (r"\b(light|nautical|metric) (?=year|mile|ton)", r" \1_"),
    (r"\u00d7|\u00b7|\btimes\b|\bmultiplied by\b|\bmal\b|\bpor\b(?! ?cien)|(?<=[\d) ])x(?=[\d( ])", " * "),
    (r"÷|(?<=\d) ?: ?(?=\d)|\bdivided by\b|\bgeteilt durch\b|\bentre\b", " / "),
    (r"\u2212|\u2013|\bminus\b|\bmenos\b", " - "),
    (r"\bplus\b|\bund\b|\bmás\b|\band\b", " + "),
    (r"\bper ?cent\b|\bprozent\b|\bpor ?ciento\b", " % "),
    (r"\bper\b|\bpro\b", " / "),
    (r"\bsqrt +([\d.]+)", r" sqrt(\1)"),
    (r"\bsquared\b|²", " ** 2 "),
    (r"\bcubed\b|³", " ** 3 "),
    (r"\^", "**"),
    (r"°", " * degree "),
    (r"\b(?:an?|one|eine?|una?) (?=[a-z])", " 1 "),
)
PERCENT = ("%", "percent", "per cent", "prozent", "por ciento")
# Each as it is written and said; a sum in one of them is taken as plain numbers.
CURRENCIES = (
    r"\$|\bdollars?\b|\busd\b",
    r"€|\beuros?\b|\beur\b",
    r"£|\bgbp\b|\bpounds? sterling\b",
    r"¥|\byen\b|\byuan\b|\bpesos?\b|\brupees?\b|\bkron(?:or|er|a|e)\b|\bzloty\b|\blira\b",
    r"\bchf\b|\bfranken\b|\bfrancs?\b",
)
# What people say and pint calls otherwise, or takes for something else (a kb is a thousand barns there).
ALIASES = """degC c deg_c deg_celsius centigrade|degF f deg_f deg_fahrenheit|kelvin k|stone st|foot**2
        sqft|kilobyte kb|megabyte mb|gigabyte gb|terabyte tb|kilometer/hour kmh|newton*meter nm|week wk
        woche wochen|meter**2 sqm qm quadratmeter|meter**3 kubikmeter|fluid_ounce fl_oz fl_ounce
        fl_ounces|hour std stunde stunden hora horas|mile meile meilen milla millas|kilometer kms kilómetro
        kilómetros|meter metro metros|foot fuß pie pies|inch zoll pulgada pulgadas|pound libra libras|ounce
        unze unzen onza onzas|gram gramm gramo gramos|kilogram kilo kilos kilogramm kilogramo
        kilogramos|liter litro litros|cup tasse tassen taza tazas|tablespoon el esslöffel cucharada
        cucharadas|teaspoon tl teelöffel cucharadita cucharaditas|second sekunde sekunden segundo
        segundos|minute minuten minuto minutos|day tag tage tagen día días|week semana semanas|year jahr
        jahre año años"""
UNITS = {said: name for name, *others in map(str.split, ALIASES.split("|")) for said in others}
QUESTIONS = (
    (r"^(?:what is|what's|how much is|wie ?viel (?:ist|sind)|cuánto (?:es|son)|calculate|convert)\b", ""),
    (
        r"^(?:what|wie ?viel|qué) (?:per ?cent(?:age)?|prozent|porcentaje|%) (?:of|von|de) (.+) "
        r"(?:is|are|ist|sind|es|son) (.+)$",
        r"(\2) / (\1) in %",
    ),
    (r"^(.+) (?:is|are) what (?:per ?cent(?:age)?|%) of (.+)$", r"(\1) / (\2) in %"),
    (
        r"^(?:how many|wie ?viele?|cuánt[oa]s) (.+?) (?:in|(?:are|is) in|are|is|sind|ist|hat|son) (.+)$",
        r"\2 in \1",
    ),
)


def signs(text: str) -> str:
    """With signs for the words that stand for one."""
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    return text


def plain_question(text: str) -> str:
    """A question about numbers as the sum it asks for: `how many cm in 3 inches` is `3 inches in cm`."""
    for pattern, replacement in QUESTIONS:
        text = re.sub(pattern, replacement, text.strip(), flags=re.IGNORECASE)
    return text


def number(token: str) -> str:
    """A number with English or continental separators as Python writes it: 1,234.5 and 1.234,5."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", token):
        return token.replace(",", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+|\d+,\d+", token):
        return token.replace(".", "").replace(",", ".")
    return token.lstrip("0") if token.isdigit() and token.strip("0") else token


def digits(value: float | Fraction, most: int = DIGITS) -> tuple[str, bool]:
    """A number in plain decimal digits, at most so many where it must be rounded, and whether that is all."""
    if isinstance(value, float):
        text = _rounded(0.0 if abs(value) < 10**-DIGITS else value, most)  # sin(pi) is zero but for rounding
        return text, "." not in text and "e" not in text and abs(value) < 10**DIGITS
    value = Fraction(value)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    text = _written(value) if rest == 1 else ""
    if text and ("." not in text or len(text) <= 2 * DIGITS):
        return text, True
    return _rounded(float(value), most), False


def _rounded(value: float, most: int) -> str:
    """The leading digits of a number; in powers of ten only where the zeros would be longer than the rest."""
    text = f"{value:.{most}g}"
    return _written(Fraction(text)) if value == 0 or 10**-DIGITS <= abs(value) < 10 ** (2 * DIGITS) else text


def _written(value: Fraction) -> str:
    """A fraction whose denominator has only twos and fives, written out."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value.numerator * 10**places // value.denominator)).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[: len(digits) - places]}{'.' + digits[len(digits) - places :] if places else ''}"
