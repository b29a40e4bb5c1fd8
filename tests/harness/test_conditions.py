"""Conditions of orders: decided by what was read, or said to be undecided; never guessed."""

from __future__ import annotations

import pytest

from muleteer.harness.conditions import condition, holds
from muleteer.harness.orders import orders

WARM = "The greenhouse is 21.5 °C."


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("if the greenhouse has under 25 degrees, turn on the lamp", True),
        ("if the greenhouse has under 5 degrees, turn on the lamp", False),
        ("turn on the lamp if the greenhouse is colder than 21.4 degrees", False),
        ("turn on the lamp if the greenhouse is colder than 21.6 degrees", True),
        ("if the greenhouse is above 20 turn on the fan", True),
        ("unless it is over 20 degrees, turn on the heating", False),
        ("when it is not over 20 degrees, turn on the heating", False),
        ("wenn das Gewächshaus unter 5 Grad hat, mach die Lampe an", False),
        ("wenn das Gewächshaus wärmer als 20,5 Grad ist schalte den Lüfter ein", True),
        ("si hay más de 30 grados, enciende el ventilador", False),
        ("s'il vous plaît, quand il fait plus de 20 degrés, allume la lampe", True),
        ("if the greenhouse is cold, turn on the lamp", None),
        ("if it is under 70 degrees Fahrenheit, turn on the lamp", None),
        ("when I come home, turn on the lamp", None),
    ],
)
def test_numbers_are_compared(message: str, met: bool | None) -> None:
    assert condition(message)
    assert orders(message)
    assert holds(condition(message), [WARM]) is met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("if the door is open, switch on the light", True),
        ("if the door is not open, switch on the light", False),
        ("if the door is closed, switch on the light", None),
        ("in case the door is open turn on the light", True),
    ],
)
def test_states_are_compared(message: str, met: bool | None) -> None:
    assert holds(condition(message), ["The back door is open."]) is met


def test_the_last_thing_found_out_counts_and_nothing_decides_nothing() -> None:
    clause = condition("if it is under 10 degrees, turn on the lamp")
    assert holds(clause, [WARM, "The cellar is 9 °C."]) is True
    assert holds(clause, ["It is 5 °C inside and 3 °C outside."]) is None
    assert holds(clause, []) is None


@pytest.mark.parametrize(
    "message", ["turn on the lamp", "turn on the lamp if you can", "mach bitte das Licht an"]
)
def test_politeness_is_no_condition(message: str) -> None:
    assert condition(message) == ""
