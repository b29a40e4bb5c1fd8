"""How traffic grows: with the devices of one household, and not with the households next door. Printed with
`pytest -s`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from muleteer.discovery.mdns import ANNOUNCE_SECONDS
from muleteer.seat.beats import COUNT, ID
from muleteer.seat.codec import message_frame
from muleteer.seat.machine import MOST_BOOTS
from muleteer.seat.membership import Voter
from muleteer.seat.messages import Kind, Message
from muleteer.seat.timing import Timing
from tests.seat.household import Household

HEADERS = 14 + 20 + 8  # bytes: Ethernet, IPv4, UDP
SEAL = 16  # bytes of a sealed datagram, beside its number, count and content
ANNOUNCEMENT = 290  # bytes, measured on real hosts, with their headers
SETTLED = 1000  # ticks after the start
YEAR = int(timedelta(days=365).total_seconds()) * 100  # ticks


def _beat() -> int:
    """Bytes of a heartbeat, or its answer, after a year."""
    beat = Message(
        Kind.HEARTBEAT, "a" * 32, "b" * 32, 99, (99, 9), clock=YEAR, released=98, boot=MOST_BOOTS - 1
    )
    return HEADERS + ID + COUNT + len(message_frame(beat)["e"]) + SEAL


def _idle_rate(devices: int, seed: int, seconds: int) -> float:
    """Messages per second and device of an idle household."""
    home = Household(tuple(Voter(f"{seed}-{number}") for number in range(devices)), seed)
    home.run(SETTLED)
    assert len(home.driving()) == 1
    before = home.sent
    home.run(SETTLED + seconds * 100)
    return (home.sent - before) / seconds / devices


def test_the_driver_of_five_devices_sends_less_than_200_bytes_a_second() -> None:
    """It sends the heartbeats."""
    sent = 4 * _beat() / (Timing().heartbeat / 100) + ANNOUNCEMENT / (sum(ANNOUNCE_SECONDS) / 2)
    print(f"\n  the driver of five: {sent:.0f} bytes a second", end="")
    assert sent < 200


@pytest.mark.parametrize("devices", [2, 3, 5, 9, 16])
def test_an_idle_device_sends_less_than_200_bytes_a_second(devices: int) -> None:
    """On average: the driver sends more, the others less."""
    rate = _idle_rate(devices, seed=devices, seconds=60)
    assert rate == pytest.approx(2 * (devices - 1) / devices / (Timing().heartbeat / 100), rel=0.02)
    sent = rate * _beat() + ANNOUNCEMENT / (sum(ANNOUNCE_SECONDS) / 2)
    print(f"\n  {devices} devices: {rate:.2f} messages and {sent:.0f} bytes a second and device", end="")
    assert sent < 200


def test_a_thousand_devices_in_two_hundred_households() -> None:
    """The households share a network and hear nothing of each other's heartbeats: each keeps its own rate."""
    alone = _idle_rate(5, seed=1, seconds=30)
    rates = [_idle_rate(5, seed, seconds=30) for seed in range(200)]
    print(
        f"\n  200 households of 5: {min(rates):.3f} to {max(rates):.3f} messages a second and device", end=""
    )
    assert max(rates) == pytest.approx(alone, rel=0.05)
    assert min(rates) == pytest.approx(alone, rel=0.05)
