"""One simulated run of a seed, and what must be true at its end.

A run has three parts: the household settles, faults come, the faults stop. Which faults and how hard is drawn
first, so that some runs have one kind only and some have all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from muleteer.seat.claiming import Claiming
from muleteer.seat.election import Election
from muleteer.seat.membership import Voter
from muleteer.seat.messages import Role
from muleteer.seat.timing import DRIFT
from tests.seat.faults import KINDS, NAMES, Faults, is_enrolled, members
from tests.seat.host import Host, Slot
from tests.seat.household import Household
from tests.seat.invariants import BrokenError

FAULTS_FOR = (800, 2500)  # ticks
# After the faults stop: a device that has just started is silent for a promise; the ranks, the jitter, the
# reluctance and one failed round with its waiting come on top.
BOUND = 800
STABLE_FOR = 400


@dataclass(frozen=True, slots=True)
class Result:
    """What one run was like: ticks from the end of the faults to a driver, and what happened on the way."""

    seed: int
    devices: int
    recovery: float
    takeovers: int
    runs: int
    messages: int


class Run:
    """One run of a seed."""

    def __init__(
        self,
        seed: int,
        machine: type[Election] = Election,
        claims: type[Claiming] = Claiming,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.random = random.Random(seed * 2 + 1)
        draw = self.random
        count = draw.choice((1, 2, 3, 3, 3, 4, 5, 5, 6, 7, 8, 9))
        kinds = {kind for kind in KINDS if draw.random() < draw.choice((0.2, 0.7))}
        self.flapping = count > 2 and draw.random() < 0.1
        forgets = draw.random() < 0.1
        self.plotted = count > 2 and not self.flapping and draw.random() < 0.15
        if self.flapping or forgets:
            kinds.discard("join")
        if self.plotted:
            kinds &= {"drift"}
        equal = draw.random() < 0.5
        voters = tuple(Voter(name, 0 if equal else draw.randrange(4)) for name in NAMES[:count])
        drift = DRIFT if "drift" in kinds else 0.0
        self.home = Household(voters, seed, drift=drift, machine=machine, claims=claims, trace=trace)
        self.home.invariants.forgetful = forgets
        self.faults = Faults(self.home, draw, kinds)
        self.home.note(f"{count} devices; {', '.join(sorted(kinds)) or 'no faults'}")

    def play(self) -> Result:
        """Raises `BrokenError`."""
        home = self.home
        settle = self.random.choice((0, 200, 500))
        length = self.random.randrange(*FAULTS_FOR)
        self._plan_slots(settle + length)
        home.run(settle)
        if self.flapping:
            self._flap(length)
        elif self.plotted:
            home.run(BOUND)
            self.faults.plot()
            home.run(home.now + length)
        else:
            self.faults.harm()
            self.faults.plan(length)
            home.run(settle + length)
        self.faults.stop()
        healed = home.now
        home.run(healed + BOUND)
        recovery = max((when - healed for when, _, _ in home.takeovers), default=0.0)
        self._expect_one()
        before = self._reign()
        home.slots.append(Slot("the last", home.now, repeatable=False))
        home.run(healed + BOUND + STABLE_FOR)
        self._expect_one()
        if ("work", "the last") not in home.invariants.starts:
            raise BrokenError("a slot did not run though there was a driver all the time")
        after = self._reign()
        if before != after and before[2] == after[2]:  # a newcomer may know a later term
            raise BrokenError("the driver changed though nothing was wrong")
        runs = sum(len(starts) for starts in home.invariants.starts.values())
        return Result(home.seed, len(home.hosts), max(0.0, recovery), len(home.takeovers), runs, home.sent)

    def _reign(self) -> tuple[str, int, tuple[str, ...]]:
        """Who drives, how often that has changed, and who is enrolled."""
        driver = self.home.driving()[0]
        return driver.id, len(self.home.takeovers), members(driver)

    def _plan_slots(self, length: float) -> None:
        due, number = 100.0, 0
        while due < length:
            self.home.slots.append(Slot(f"slot{number}", due, self.random.random() < 0.5))
            due, number = due + self.random.uniform(100, 500), number + 1

    # A peer that comes and goes

    def _flap(self, length: int) -> None:
        """Once there is a driver, one other device loses its links and its process again and again."""
        home = self.home
        home.run(home.now + BOUND)
        self._expect_one()
        driver, before = home.driving()[0], len(home.takeovers)
        peer = home.hosts[self.random.choice([name for name in home.hosts if name != driver.id])]
        end = home.now + length
        while home.now < end:
            home.run(home.now + self.random.uniform(10, 400))
            fault = self.random.randrange(5)
            others = [name for name in home.hosts if name != peer.id]
            if fault == 0:
                home.network.cut = {(peer.id, other) for other in others}
            elif fault == 1:
                home.network.cut = {(other, peer.id) for other in others}
            elif fault == 2:
                home.crash(peer)
            elif fault == 3:
                home.pause(peer, self.random.uniform(10, 600))
            else:
                home.network.cut = set()
                home.start(peer)
        if len(home.takeovers) != before or not driver.drives(home.now):
            raise BrokenError(f"{driver.id} lost the seat because {peer.id} came and went")

    # Afterwards

    def _expect_one(self) -> None:
        """Exactly one drives, and every device that is enrolled with it follows it. Two devices that removed
        each other while they could not hear each other are two households."""
        home = self.home
        driving = [host for host in home.driving() if is_enrolled(home, host) and not home.is_outside(host)]
        if not driving or (len(driving) > 1 and not home.invariants.small):
            raise BrokenError(f"{len(driving)} drive after the faults: {self._roles()}")
        for driver in driving:
            for other in home.hosts.values():
                if driver.id in members(other) and other.id in members(driver):
                    self._expect_follows(other, driver)

    def _expect_follows(self, host: Host, driver: Host) -> None:
        others = any(
            driver.id in members(self.home.hosts[name]) for name in members(driver) if name != driver.id
        )
        word = Role.FOLLOWER if host is not driver else Role.DRIVER if others else Role.ALONE
        if not host.election or host.election.driver != driver.id or host.election.role is not word:
            raise BrokenError(f"{host.id} does not know that {driver.id} drives: {self._roles()}")

    def _roles(self) -> str:
        return ", ".join(
            f"{host.id} {host.election.role} ({' '.join(members(host))})"
            for host in self.home.hosts.values()
            if host.election
        )


def play(
    seed: int,
    machine: type[Election] = Election,
    claims: type[Claiming] = Claiming,
    trace: Callable[[str], None] | None = None,
) -> Result:
    """One run; with the same seed always the same. Raises `BrokenError`."""
    return Run(seed, machine, claims, trace).play()
