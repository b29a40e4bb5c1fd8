"""One distribution from two opinions, and the plan that it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.signals import Plan
from muleteer.harness.weighing import decide, together


def test_the_likeliest_handle_is_the_plan() -> None:
    assert decide({"a": 0.8, "b": 0.1, "reply": 0.1}) == Plan(("a",), 0.8)


def test_a_second_handle_joins_when_it_is_likely_enough() -> None:
    assert decide({"a": 0.42, "b": 0.5, "reply": 0.08}) == Plan(("b", "a"), 0.5)
    assert decide({"a": 0.35, "b": 0.6, "reply": 0.05}) == Plan(("b",), 0.6)


def test_a_likely_reply_is_no_plan() -> None:
    assert decide({"a": 0.45, "reply": 0.55}) is None


def test_an_unsure_reply_goes_to_the_likeliest_handle() -> None:
    assert decide({"a": 0.35, "b": 0.17, "reply": 0.48}) == Plan(("a",), 0.35)


def test_without_handles_everything_is_a_reply() -> None:
    assert decide({"reply": 1.0}) is None


def test_without_a_likeness_the_model_decides() -> None:
    shares = together({"a": 0.7, "b": 0.2, "reply": 0.1}, {})
    assert sorted(shares, key=shares.__getitem__) == ["reply", "b", "a"]


def test_likeness_decides_where_the_model_is_unsure() -> None:
    shares = together({"a": 0.45, "b": 0.45, "reply": 0.1}, {"a": -1.0, "b": 0.5, "reply": -1.0})
    assert shares["b"] > 2 * shares["a"]


def test_a_handle_without_likeness_is_neither_helped_nor_hindered() -> None:
    shares = together({"a": 0.5, "b": 0.3, "new": 0.2}, {"a": -0.2, "b": 0.2})
    without = together({"a": 0.5, "b": 0.3, "new": 0.2}, {"a": 0.0, "b": 0.0, "new": 0.0})
    assert shares["new"] == pytest.approx(without["new"], abs=0.03)


names = st.sampled_from(["a", "b", "c", "d", "reply"])


@given(st.dictionaries(names, st.floats(0, 1), min_size=1), st.dictionaries(names, st.floats(-2, 2)))
def test_shares_are_a_distribution_over_what_the_model_was_asked(
    model: dict[str, float], likeness: dict[str, float]
) -> None:
    shares = together(model, likeness)
    assert shares.keys() == model.keys()
    assert sum(shares.values()) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in shares.values())
