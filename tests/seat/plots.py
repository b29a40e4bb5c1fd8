"""Coincidences that random faults seldom bring about: one plot a seed, checked like every run."""

from __future__ import annotations

import random

from muleteer.seat.election import Election
from muleteer.seat.membership import Membership, Voter
from muleteer.seat.messages import Durable
from tests.seat.copies import ORIGINAL, Copied
from tests.seat.host import Host
from tests.seat.household import Household
from tests.seat.invariants import BrokenError


def _settled(seed: int, machine: type[Election]) -> Household:
    home = Household(tuple(Voter(name) for name in "abcdefg"), seed, machine=machine)
    home.run(1000)
    return home


def _make_unwilling(home: Household, host: Host) -> None:
    home.feed(host, lambda election: election.set_reluctance("it is hot", host.clock(home.now)))


def a_contest(seed: int, machine: type[Election]) -> None:
    """The driver dies, and the next two in rank, which are far away and do not hear each other, ask the same
    devices for votes at the same time."""
    home, draw = _settled(seed, machine), random.Random(seed)
    home.network.far = dict.fromkeys("bc", draw.uniform(11, 14))
    home.network.cut = {("b", "c"), ("c", "b")}
    for host in map(home.hosts.__getitem__, "defg"):
        _make_unwilling(home, host)
    home.run(home.now + 200 + draw.uniform(0, 150))  # they wait longer from the next heartbeat on
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


def a_newcomer(seed: int, machine: type[Election]) -> None:
    """A device that drove a household of its own joins; then it hears the driver no more."""
    home, draw = _settled(seed, machine), random.Random(seed)
    (driver,) = home.driving()
    voter = Voter("h")
    host = home.add_host(voter.id, Durable(Membership.alone(voter)))
    home.run(home.now + draw.uniform(10, 300))
    home.enrol(driver, host, voter)
    home.run(home.now + 500)
    home.network.cut = {(driver.id, "h"), ("h", driver.id)}
    home.run(home.now + 1000)
    if home.driving() != [driver]:
        raise BrokenError(f"{driver.id} lost the seat because h had driven a household of its own")


def a_third_device(seed: int, machine: type[Election]) -> None:
    """Two devices become three, and the one that does not drive is cut off in the middle of it."""
    home, draw = Household((Voter("a"), Voter("b")), seed, machine=machine), random.Random(seed)
    home.run(1000)
    (driver,) = home.driving()
    (other,) = home.hosts.keys() - {driver.id}
    newcomer = home.add_host("c", Durable(Membership.alone(Voter("c"))))
    home.run(home.now + draw.uniform(10, 300))
    home.enrol(driver, newcomer, Voter("c"))
    home.run(home.now + draw.uniform(18, 36))
    home.network.cut = {pair for id in (driver.id, "c") for pair in ((id, other), (other, id))}
    home.run(home.now + 1500)


def a_copy(seed: int, machine: type[Election]) -> None:
    """A second device of the driver's image comes to the network, at once or after a while;
    neither of them drives in the end."""
    draw = random.Random(seed)
    home = Copied(draw.choice(("abc", "abcd", "abcde")), seed, machine)
    home.run(1000 + draw.uniform(0, 200))
    home.start_copy()
    home.run(home.now + draw.choice((0, 1000)) + draw.uniform(0, 300))
    home.plug_in(draw.choice((5, 100, 300)))
    home.run(home.now + 1500)
    if [host.id for host in home.driving()] in ([], [ORIGINAL]):
        raise BrokenError("none of the others drives")


PLOTS = (a_contest, late_answers, short_memories, a_newcomer, a_third_device, a_copy)
