"""Numbers that a model writes must have been said: in digits, in words, or by what a word stands for."""

from __future__ import annotations

import pytest

from muleteer.harness.events import TurnFinished
from muleteer.harness.provenance import invented
from tests.harness.scripted import Choose, Fill
from tests.harness.test_compound import Home


@pytest.mark.parametrize(
    ("message", "expression"),
    [
        ("how many grams are 3 pounds and 4 ounces", "3 pounds + 4 ounces in grams"),
        ("what is twelve times eight", "12*8"),
        ("80 plus 20 percent", "80 + 20%"),
        ("80 plus 20 percent", "80 * 1.2"),
        ("three hundred divided by 4", "300/4"),
        ("a dozen eggs at 0,30", "12*0.30"),
        ("average of 3, 5 and 7", "(3+5+7)/3"),
        ("half of 90", "90/2"),
        ("wie viel ist fünfundzwanzig mal zwei", "25*2"),
        ("1,234.5 + 1", "1234.5+1"),
        ("how many minutes are 3 hours", "3*60"),
        ("two thousand and five minus 3", "2005-3"),
        ("quanto é metade de 10", "10/2"),
        ("the square root of 16", "16^(1/2)"),
        ("what is pi", "pi"),
    ],
)
def test_what_was_said_may_be_written(message: str, expression: str) -> None:
    assert invented({"expression": expression}, ["expression"], [message]) == []


@pytest.mark.parametrize(
    ("message", "expression", "made_up"),
    [
        ("how many grams are 3 pounds and 4 ounces", "3*453.592+4*28.35", ["453.592", "28.35"]),
        ("how much is a litre of milk and bread", "1.2+2.5", ["1.2", "2.5"]),
        ("what is my age times two", "34*2", ["34"]),
        ("17 percent of 230", "17% of 240", ["240"]),
    ],
)
def test_what_nobody_said_is_named(message: str, expression: str, made_up: list[str]) -> None:
    assert invented({"expression": expression}, ["expression"], [message]) == made_up


def test_what_a_tool_found_counts_as_said_and_other_parameters_are_not_looked_at() -> None:
    assert invented({"expression": "21.5*2"}, ["expression"], ["twice that", "The cellar has 21.5 °C."]) == []
    assert invented({"place": "UTC+3"}, [], ["the time"]) == []


async def test_an_invented_number_is_corrected_and_never_calculated_with() -> None:
    home = Home()
    last = await home.turn(
        "grams in 3 pounds",
        Choose({"sums": 1.0}),
        Fill({"expression": "3*453.592"}),
        Fill({"expression": "3 pounds in grams"}),
    )
    assert isinstance(last, TurnFinished)
    assert home.ran == [("3 pounds in grams",)]
    assert last.answer == "3 pounds in grams it is."
    correction = home.brain.asked[2].messages[-1].content
    assert "453.592 is not in the request" in correction


async def test_who_cannot_do_without_inventing_says_so_in_the_users_language() -> None:
    home = Home()
    last = await home.turn(
        "wie viel kosten Milch und Brot",
        *[Choose({"sums": 1.0})] * 3,  # Milch, Brot, and all of it
        *[Fill({"expression": f"{price}*2"}) for price in ("1.19", "1.29", "1.39")],
    )
    assert isinstance(last, TurnFinished)
    assert home.ran == []
    assert last.answer == (
        "Da fehlt eine Zahl: Wofür steht das ? in „?*?“? Bitte noch einmal mit allen Zahlen sagen."
    )
