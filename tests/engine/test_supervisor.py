from __future__ import annotations

from muleteer.engine.supervisor import LONGEST_PAUSE_S, Restarts


def test_pauses_double_up_to_a_limit_and_then_it_is_over() -> None:
    restarts = Restarts(limit=9, first_pause=0.5)
    assert [restarts.failed() for _ in range(10)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, None]
    assert LONGEST_PAUSE_S == 30


def test_a_success_forgives() -> None:
    restarts = Restarts(limit=1, first_pause=0.5)
    assert restarts.failed() == 0.5
    restarts.succeeded()
    assert restarts.failed() == 0.5
    assert restarts.failed() is None


def test_without_restarts_the_first_failure_is_the_last() -> None:
    assert Restarts(limit=0).failed() is None


def test_a_very_long_row_of_failures_has_finite_pauses() -> None:
    restarts = Restarts(limit=10_000)
    assert {restarts.failed() for _ in range(10_000)} == {0.5, 1, 2, 4, 8, 16, 30}
