from __future__ import annotations

import pytest

from muleteer.evaluate.batteries.intervals import paired, wilson


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (8, 10, 0.4902, 0.9433), (10, 10, 0.7225, 1.0), (95, 100, 0.8882, 0.9785)],
)
def test_the_interval_of_a_share_is_wilsons(right: int, n: int, low: float, high: float) -> None:
    assert list(wilson(right, n)) == pytest.approx([low, high], abs=1e-4)


def test_nothing_is_known_of_no_cases() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert paired([]) == (0.0, 0.0)


def test_a_paired_interval_is_the_same_each_time_and_holds_the_mean() -> None:
    differences = [1.0] * 10 + [0.0] * 80 + [-1.0] * 2
    low, high = paired(differences)
    assert (low, high) == paired(differences)
    assert low < 8 / 92 < high
    assert low > 0  # ten against two is more than chance


def test_sides_that_never_differ_have_an_interval_of_no_width() -> None:
    assert paired([0.0] * 30) == (0.0, 0.0)
