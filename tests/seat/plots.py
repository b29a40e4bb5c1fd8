"""Coincidences that random faults seldom bring about: one plot a seed, checked like every run."""

from __future__ import annotations

import random

from muleteer.seat.election import Election
from muleteer.seat.membership import Voter
from tests.seat.household import Host, Household


def _settled(seed: int, machine: type[Election]) -> Household:
    home = Household(tuple(Voter(name) for name in "abcdefg"), seed, machine=machine)
    home.run(1000)
    return home


def _make_unwilling(home: Household, host: Host) -> None:
    home.feed(host, lambda election: election.set_willing(False, host.clock(home.now)))


def a_contest(seed: int, machine: type[Election]) -> None:
    """The driver dies, and two devices that are far away ask for votes before they hear of each other."""
    home, draw = _settled(seed, machine), random.Random(seed)
    home.network.far = dict.fromkeys("bc", draw.uniform(22, 27))  # the next in rank
    for host in map(home.hosts.__getitem__, "defg"):
        _make_unwilling(home, host)
    for driver in home.driving():
        home.crash(driver)
    home.run(home.now + 1000)


def late_answers(seed: int, machine: type[Election]) -> None:
    """The answers that the driver counts are old when they arrive, and then nobody hears it any more."""
    home, draw = _settled(seed, machine), random.Random(seed)
    (driver,) = home.driving()
    home.network.far = {driver.id: draw.uniform(54, 59)}
    home.run(home.now + draw.uniform(400, 600))
    home.network.cut = {(driver.id, other) for other in home.hosts}
    home.run(home.now + 1000)


def short_memories(seed: int, machine: type[Election]) -> None:
    """One device has long not heard the driver; then all that have are killed and started again."""
    home, draw = _settled(seed, machine), random.Random(seed)
    (driver,) = home.driving()
    home.network.cut = {(driver.id, "g"), ("g", driver.id)}
    home.run(home.now + draw.uniform(350, 500))
    for host in home.hosts.values():
        if host.id not in (driver.id, "g"):
            home.crash(host)
            home.start(host)
    home.run(home.now + 1000)


PLOTS = (a_contest, late_answers, short_memories)
