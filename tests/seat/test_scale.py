"""How traffic grows: with the devices of one household, and not with the households next door."""

from __future__ import annotations

import pytest

from muleteer.seat.membership import Voter
from muleteer.seat.timing import Timing
from tests.seat.household import Household

MESSAGE = 140  # bytes: a heartbeat as it is sent, with its seal, and UDP's and IP's headers
MINUTE = 6000  # ticks


def _idle_rate(devices: int, seed: int) -> float:
    """Messages per second and device of an idle household."""
    home = Household(tuple(Voter(f"{seed}-{number}") for number in range(devices)), seed)
    home.run(MINUTE)
    assert len(home.driving()) == 1
    before = home.sent
    home.run(2 * MINUTE)
    return (home.sent - before) / 60 / devices


@pytest.mark.parametrize("devices", [2, 3, 5, 9, 16])
def test_an_idle_device_sends_less_than_200_bytes_a_second(devices: int) -> None:
    rate = _idle_rate(devices, seed=devices)
    assert rate == pytest.approx(2 * (devices - 1) / devices / (Timing().heartbeat / 100), rel=0.02)
    assert rate * MESSAGE < 200


def test_a_thousand_devices_in_two_hundred_households() -> None:
    """The households share a network and hear nothing of each other: each keeps its own rate."""
    alone = _idle_rate(5, seed=1)
    rates = [_idle_rate(5, seed) for seed in range(200)]
    assert max(rates) == pytest.approx(alone, rel=0.02)
    assert min(rates) == pytest.approx(alone, rel=0.02)
