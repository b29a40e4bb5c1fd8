"""How soon there is a driver again, in virtual time, for every size of household."""

from __future__ import annotations

import pytest

from muleteer.seat.membership import Voter
from muleteer.seat.timing import DRIFT, Timing
from tests.seat.host import Host
from tests.seat.household import Household

SIZES = range(2, 10)


def _settled(devices: int, seed: int) -> tuple[Household, Host]:
    home = Household(tuple(Voter(name) for name in "abcdefghi"[:devices]), seed, drift=DRIFT)
    home.run(1000 + seed)
    assert len(home.driving()) == 1
    return home, home.driving()[0]


def _until_a_driver(home: Household, other_than: str) -> float:
    began = home.now
    while not any(host.id != other_than for host in home.driving()):
        home.run(home.now + 1)
        assert home.now < began + 2000
    return (home.now - began) / 100


def _stop(home: Household, host: Host) -> None:
    home.feed(host, lambda election: election.give("it stops", host.clock(home.now)))
    home.crash(host)


@pytest.mark.parametrize("devices", SIZES)
def test_within_5_s_after_the_driver_is_killed(devices: int) -> None:
    for seed in range(20):
        home, driver = _settled(devices, seed * 7)
        home.crash(driver)
        assert _until_a_driver(home, driver.id) < 5


@pytest.mark.parametrize("devices", SIZES)
def test_within_1_s_after_the_driver_leaves(devices: int) -> None:
    for seed in range(20):
        home, driver = _settled(devices, seed * 7)
        _stop(home, driver)
        assert _until_a_driver(home, driver.id) < 1


@pytest.mark.parametrize("devices", SIZES)
@pytest.mark.parametrize("silent", [50, 300, 1000, 6000])
def test_one_driver_within_3_s_after_the_links_are_back(devices: int, silent: int) -> None:
    for seed in range(5):
        home, _ = _settled(devices, seed * 7)
        names = list(home.hosts)
        home.network.cut = {(one, other) for one in names for other in names}
        home.run(home.now + silent)
        home.network.cut = set()
        home.run(home.now + 300)
        assert len(home.driving()) == 1


def test_a_lease_ends_before_the_promise_however_the_clocks_go() -> None:
    timing = Timing()
    assert (timing.lease + 1) / (1 - DRIFT) < (timing.promise - 1) / (1 + DRIFT)
