"""Requests of the default model that have several parts, or numbers that must not be made up."""

from __future__ import annotations

import pytest

from tests.conftest import Served
from tests.test_end_to_end import ask, calls

pytestmark = pytest.mark.model("standard")


def test_two_requests_in_one_message_are_both_answered(served: Served) -> None:
    turn = ask(served, "time in Tokyo and 3*4")
    assert turn["handles"] == ["current-time", "calculator"]
    assert calls(turn) == [("current_time", "ok"), ("calculator", "ok")]
    assert "Tokyo" in turn["answer"]
    assert "12" in turn["answer"].splitlines()[-1]


def test_what_cannot_be_done_is_said_beside_what_can(served: Served) -> None:
    turn = ask(served, "what is the time in Tokyo and order a large pizza")
    assert calls(turn) == [("current_time", "ok")]
    assert turn["answer"].endswith("I cannot do this part: order a large pizza. I have no skill for it.")


def test_a_sum_is_right_or_honestly_refused(served: Served) -> None:
    turn = ask(served, "How many grams are 3 pounds and 4 ounces?")
    assert "1474" in turn["answer"] or turn["answer"].startswith(
        ("I could not do that", "A number is missing")
    )
