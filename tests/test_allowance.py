"""How often somebody may: at once, for good, and for many of them within bounds."""

from __future__ import annotations

from muleteer.allowance import MOST_COUNTED, Allowance, Allowances


def test_a_burst_and_then_the_rate() -> None:
    allowed = Allowance.of(2.0, 3.0, 0.0)
    assert [allowed.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert [allowed.take(at) for at in (0.4, 0.5, 0.6, 1.0)] == [False, True, False, True]
    assert [allowed.take(1000.0) for _ in range(4)] == [True, True, True, False]


def test_each_has_its_own_and_nobody_makes_it_grow() -> None:
    allowed = Allowances(1.0, 1.0)
    assert [allowed.take("a", 0.0), allowed.take("a", 0.0), allowed.take("b", 0.0)] == [True, False, True]
    for number in range(2 * MOST_COUNTED):
        assert allowed.take(number, 0.0)
        allowed.take("a", 0.0)  # seen again and again, so it is not forgotten
    assert not allowed.take("a", 0.0)
    assert allowed.take("b", 0.0)
    assert len(allowed._counted) == MOST_COUNTED
