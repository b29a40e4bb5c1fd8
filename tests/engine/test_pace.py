"""Chunks follow the speed of the machine, so that a cancel is seen in time."""

import pytest

from muleteer.engine.pace import CHUNK_SECONDS, SMALLEST_CHUNK, Pace

SETTLED = [(40.0, 16), (95.0, 64), (150.0, 96), (9000.0, 128), (5.0, SMALLEST_CHUNK)]


@pytest.mark.parametrize(("speed", "wanted"), SETTLED)
def test_a_chunk_settles_below_a_second(speed: float, wanted: int) -> None:
    pace = Pace(128)
    for _ in range(10):
        pace.took(pace.size, pace.size / speed)
    assert pace.size == wanted
    assert pace.size / speed <= CHUNK_SECONDS or pace.size == SMALLEST_CHUNK


def test_a_machine_that_slows_down_gets_smaller_chunks_at_once() -> None:
    pace = Pace(128)
    for _ in range(5):
        pace.took(pace.size, 0.01)
    assert pace.size == 128
    pace.took(128, 4.0)
    assert pace.size == SMALLEST_CHUNK


def test_a_chunk_that_is_a_little_slower_than_the_last_changes_nothing() -> None:
    pace = Pace(128)
    for _ in range(5):
        pace.took(pace.size, pace.size / 95)
    assert pace.size == 64
    for seconds in (0.70, 0.84, 0.60):
        pace.took(64, seconds)
        assert pace.size == 64


def test_single_tokens_tell_nothing() -> None:
    pace = Pace(128)
    pace.took(1, 10.0)
    assert pace.size == SMALLEST_CHUNK


def test_the_batch_is_the_upper_limit() -> None:
    assert Pace(8).size == 8
