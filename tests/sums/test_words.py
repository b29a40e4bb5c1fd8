"""Sums and numbers as people write them, and numbers in plain digits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from muleteer.sums import words as sums


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("1,234", "1234"),
        ("1,234,567.5", "1234567.5"),
        ("1.234,5", "1234.5"),
        ("3,5", "3.5"),
        ("007", "7"),
        ("0", "0"),
        ("1.5", "1.5"),
    ],
)
def test_separators_of_either_kind_are_understood(written: str, number: str) -> None:
    assert sums.number(written) == number


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("how many cm in 3 inches", "3 inches in cm"),
        ("How many feet are in a mile", "a mile in feet"),
        ("wie viele km sind 3 Meilen", "3 Meilen in km"),
        ("what percent of 80 is 20", "(20) / (80) in %"),
        ("wie viel Prozent von 80 sind 20", "(20) / (80) in %"),
        ("17 * 23", "17 * 23"),
    ],
)
def test_a_question_becomes_the_sum_it_asks_for(asked: str, plain: str) -> None:
    assert sums.plain_question(asked) == plain


def test_words_become_signs() -> None:
    assert " ".join(sums.signs("7 mal 3 plus square root of 2").split()) == "7 * 3 + sqrt(2)"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(1, 8), ("0.125", True)),
        (Fraction(10, 3), ("3.33333333333", False)),
        (Fraction(-7, 2), ("-3.5", True)),
        (2.0**100, ("1.26765060023e+30", False)),
        (1e-15, ("0", True)),
    ],
)
def test_a_number_is_written_out_as_far_as_it_can_be(value: float, shown: tuple[str, bool]) -> None:
    assert sums.digits(value) == shown


def test_fewer_digits_may_be_asked_for() -> None:
    assert sums.digits(Fraction(10, 3), 6) == ("3.33333", False)
