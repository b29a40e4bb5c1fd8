"""Arithmetic as people write it; exact where it can be; nothing that takes long or reaches further."""

from __future__ import annotations

import subprocess
import sys
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.phrases import tools_table
from muleteer.paths import share_dir
from muleteer.sentences import say, translated
from muleteer.sums import digits, evaluate
from muleteer.tool import Data, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters
from tools.calculator import calculator


async def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, calculator)
    assert toolbox.tools["calculator"].effect == "read"


@pytest.mark.parametrize(
    ("expression", "english", "german"),
    [
        ("18.5% of 249", "18.5% of 249 = 46.065", "18,5% of 249 = 46,065"),
        ("18,5 % von 249", "18.5 % von 249 = 46.065", "18,5 % von 249 = 46,065"),
        ("1,234.5 + 1", "1234.5 + 1 = 1235.5", "1234,5 + 1 = 1235,5"),
        ("1.234,5 + 1", "1234.5 + 1 = 1235.5", "1234,5 + 1 = 1235,5"),
        ("3,5 * 2", "3.5 * 2 = 7", "3,5 * 2 = 7"),
        ("1,000,000 / 8", "1000000 / 8 = 125000", "1000000 / 8 = 125000"),
        ("1.5 / 0", "1.5 / 0 divides by zero, which has no result.", None),
        ("max(1,234)", "max(1,234) = 234", "max(1,234) = 234"),
    ],
)
def test_a_line_has_one_style_of_numbers_that_of_its_language(
    expression: str, english: str, german: str | None
) -> None:
    result = calculator(expression)
    assert result.text == english
    if german is None:
        german = translated(
            say("{sum} divides by zero, which has no result.", sum="1,5 / 0"), tools_table("de")
        )
    assert translated(result.text, tools_table("de")) == german


@pytest.mark.parametrize("expression", ["12 * plus 6", "+ 6", "12 * + 6", "plus 6"])
async def test_a_sum_that_is_none_is_not_calculated(toolbox: Toolbox, expression: str) -> None:
    assert (await call(toolbox, "calculator", expression=expression)).status is Status.ERROR


async def test_ok_has_the_sentence_and_the_value(toolbox: Toolbox) -> None:
    result = await call(toolbox, "calculator", expression="17 * 23 = ?")
    assert (result.status, result.text) == (Status.OK, "17 * 23 = 391")
    assert result.payload == Data({"expression": "17 * 23", "value": "391", "exact": True})


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("2 + 3 * 4", "= 14"),
        ("(2 + 3) * -4", "= -20"),
        ("0.1 + 0.2", "= 0.3"),
        ("4.35 * 100", "= 435"),
        ("1/3 + 1/3 + 1/3", "= 1"),
        ("10 / 3", "≈ 3.33333333333"),
        ("144 / 12", "= 12"),
        ("7 // 2", "= 3"),
        ("17 % 5", "= 2"),
        ("2 ^ 10", "= 1024"),
        ("2 ** 100", "= 1267650600228229401496703205376"),
        ("10 ^ -3", "= 0.001"),
        ("2 ^ 0.5", "≈ 1.41421356237"),
        ("1 / 3 ^ 300", "≈ 7.30505658115e-144"),
        ("17 \u00d7 23", "= 391"),
        ("17x23", "= 391"),
        ("144 ÷ 12", "= 12"),
        ("144 : 12", "= 12"),
        ("5 − 7", "= -2"),  # noqa: RUF001  # the sign that keyboards of phones write
        ("$149 * 1.2", "= 178.8"),
        ("007", "= 7"),
        ("20% of 149", "= 29.8"),
        ("20 percent of 149", "= 29.8"),
        ("20 % von 149", "= 29.8"),
        ("149 + 20%", "= 178.8"),
        ("(100 + 49) - 20%", "= 119.2"),
        ("149 + -20%", "= 119.2"),
        ("20% + 30%", "= 0.5"),
        ("50%", "= 0.5"),
        ("200 * 5%", "= 10"),
        ("what is 12 + 30 * 4?", "= 132"),
        ("12 times 4 plus 2", "= 50"),
        ("144 entre 12", "= 12"),
        ("100 geteilt durch 8", "= 12.5"),
        ("sqrt(16)", "= 4"),
        ("√2", "≈ 1.41421356237"),
        ("square root of 81", "= 9"),
        ("3²", "= 9"),
        ("max(1,234)", "= 234"),
        ("min(3, 2, 1)", "= 1"),
        ("round(2.5)", "= 3"),
        ("round(-2.5)", "= -3"),
        ("round(10 / 3, 2)", "= 3.33"),
        ("floor(-1.5) + ceil(1.2)", "= 0"),
        ("abs(3 - 5)", "= 2"),
        ("log(1000)", "= 3"),
        ("log(8, 2)", "= 3"),
        ("ln(e)", "= 1"),
        ("sin(pi)", "= 0"),
        ("sin(30°)", "≈ 0.5"),
        ("pi", "≈ 3.14159265359"),
    ],
)
def test_what_people_write(expression: str, text: str) -> None:
    result = calculator(expression)
    assert result.text == f"{expression.rstrip('?')} {text}"


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("", "There is nothing to calculate"),
        ("1 / 0", "1 / 0 divides by zero"),
        ("5 % 0", "divides by zero"),
        ("0 ^ -1", "divides by zero"),
        ("2 +", "not an expression of numbers"),
        ("__import__('os')", "neither a unit nor"),
        ("(1).real", "not an expression of numbers"),
        ("[1, 2]", "not an expression of numbers"),
        ("'a' * 9", "not an expression of numbers"),
        ("1 == 1", "not an expression of numbers"),
        ("True + 1", "neither a unit nor"),
        ("sqrt()", "not an expression of numbers"),
        ("sqrt", "neither a unit nor"),
        ("sqrt(-1)", "no real root"),
        ("(-8) ^ 0.5", "not a real number"),
        ("log(0)", "above zero"),
        ("asin(2)", "no value there"),
        ("9 ^ 9 ^ 9", "too big"),
        ("9 ** 99999999999", "too big"),
        ("0.5 ^ 99999999999", "too big"),
        ("10 ^ 300 * 10 ^ 300", "too big"),
        ("exp(1000)", "too big"),
        ("1e999", "too big"),
        ("round(1, 10 ^ 9)", "too big"),
        ("1" * 201, "longer than 200 characters"),
        ("(" * 150 + "1", "not an expression of numbers"),
        ("-" * 200, "not an expression of numbers"),
    ],
)
def test_what_cannot_be_calculated_is_refused_at_once(expression: str, sentence: str) -> None:
    began = time.perf_counter()
    result = calculator(expression)
    assert result.status is Status.ERROR
    assert sentence in result.text
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("3 miles in km", "= 4.828032 km"),
        ("20 C in F", "= 68 F"),
        ("20 °C in °F", "= 68 °F"),
        ("-40 degrees celsius to fahrenheit", "= -40 fahrenheit"),
        ("98.6 Fahrenheit in Celsius", "= 37 Celsius"),
        ("18.5 percent of 249", "= 46.065"),
        ("2 cups in ml", "= 473.176473 ml"),
        ("1/3 cup in ml", "= 78.8627455 ml"),
        ("1 1/2 cups in ml", "= 354.88235475 ml"),
        ("8 fluid ounces to cups", "= 1 cups"),
        ("5 in in cm", "= 12.7 cm"),
        ("5 ft 11 in in cm", "= 180.34 cm"),
        ("5 feet and 3 inches in cm", "= 160.02 cm"),
        ("1 h 30 min in s", "= 5400 s"),
        ("2 * 1 h 30 min", "= 3 h"),
        ("80 km/h * 3", "= 240 km/h"),
        ("80 km/h * 30 min", "= 40 km"),
        ("100 km / 8 l", "= 12.5 km/l"),
        ("100 km pro 8 l", "= 12.5 km/l"),
        ("(3 + 4) km in m", "= 7000 m"),
        ("2^10 m in km", "= 1.024 km"),
        ("20 C - 5 C", "= 15 Δ°C"),
        ("20% of 5 kg", "= 1 kg"),
        ("5 kg + 20%", "= 6 kg"),
        ("20 m2 in ft2", "≈ 215.278 ft2"),
        ("3 square meters in square feet", "≈ 32.2917 square feet"),
        ("60 W * 24 h in kwh", "= 1.44 kwh"),
        ("2 GB in mb", "= 2000 mb"),
        ("1 light year in km", "= 9460730472580.8 km"),
        ("180 degrees in rad", "≈ 3.14159 rad"),
        ("sin(30 degrees)", "≈ 0.5"),
        ("how many cm are in 3 inches", "= 7.62 cm"),
        ("wie viele km sind 3 Meilen", "= 4.828032 km"),
        ("what percent of 80 is 20", "= 25 %"),
        ("20 is what percent of 80", "= 25 %"),
        ("20 / 80 as percent", "= 25 %"),
        ("12 euros * 3", "= 36"),
    ],
)
def test_units_and_shares(expression: str, text: str) -> None:
    assert calculator(expression).text == f"{expression} {text}"


def test_the_payload_names_the_unit() -> None:
    assert calculator("3 miles in km").payload == Data(
        {"expression": "3 miles in km", "value": "4.828032", "exact": True, "unit": "km"}
    )


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("100 USD in EUR", "exchange rates change every day, and I do not have them."),
        ("50 euros to dollars", "exchange rates change every day"),
        ("$20 + 5 €", "exchange rates change every day"),
        ("20 km in kg", "km and kg do not measure the same thing."),
        ("5 km + 3", "km and a plain number do not measure the same thing."),
        ("20 C + 5 C", "temperatures can be converted and subtracted, not added or multiplied."),
        ("5 in cm", "say which unit the number has"),
        ("3 dogs in cats", "'dogs' is neither a unit nor a function"),
        ("3 km in elephants", "'elephants' is neither a unit nor a function"),
        ("sqrt(3 km)", "a plain number is needed there, not km."),
        ("quantity(3, u0)", "'quantity' is neither a unit nor a function"),
        ("5 m^99", "too big"),
        ("(5 m) ^ 10", "too big"),
        ("10^300 km * 10^300 km", "too big"),
        ("3 km / 0", "divides by zero"),
    ],
)
def test_what_units_cannot_do_is_said(expression: str, sentence: str) -> None:
    result = calculator(expression)
    assert result.status is Status.ERROR
    assert sentence in result.text


def test_sums_without_units_do_not_load_pint() -> None:
    program = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tools.calculator import calculator\n"
        "assert calculator('15% of 40').text.endswith('= 6')\n"
        "assert 'pint' not in sys.modules\n"
        "assert calculator('3 km in m').text.endswith('= 3000 m')\n"
        "assert 'pint' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=share_dir(), check=True, timeout=60)


numbers = st.decimals(-(10**9), 10**9, places=3)


@given(numbers, st.sampled_from("+-*/"), numbers)
def test_the_four_operations_are_exact(left: object, sign: str, right: object) -> None:
    a, b = Fraction(str(left)), Fraction(str(right))
    if sign == "/" and b == 0:
        return
    expected = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}[sign]
    assert evaluate(f"{left:f} {sign} ({right:f})") == expected


@given(st.fractions(-(10**6), 10**6, max_denominator=1000))
def test_what_is_shown_as_exact_is_the_number(value: Fraction) -> None:
    text, exact = digits(value)
    assert (Fraction(text) == value) == exact
    assert abs(Fraction(text) - value) <= abs(value) * Fraction(1, 10**11)


@given(st.text(st.sampled_from("0123456789.,+-*/%^() episqrtmax√²°:x"), max_size=60))
def test_any_text_gives_a_result(text: str) -> None:
    result = calculator(text)
    assert result.status in (Status.OK, Status.ERROR)
    assert result.text


WORDS = (
    "1 2.5 3,5 1/2 10 + - * / ^ ** ( ) % of in to km m^2 /h h °C F degF kg ft cups e pi sqrt( min( W k 9^9 a"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12))
def test_any_sum_of_units_gives_a_result(pieces: list[str]) -> None:
    result = calculator(" ".join(pieces))
    assert result.status in (Status.OK, Status.ERROR)
    assert result.text.isprintable()
