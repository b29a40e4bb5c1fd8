"""What goes wrong in one simulated run, and what must be true afterwards. Deterministic for a seed.

A run has three parts: the household settles, faults come, the faults stop. Which faults and how hard is drawn
first, so that some runs have one kind only and some have all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from muleteer.seat.claiming import Claiming
from muleteer.seat.election import Election
from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Durable, Role
from muleteer.seat.timing import DRIFT
from tests.seat.household import BrokenError, Host, Household, Slot

NAMES = "abcdefghijkl"
FAULTS_FOR = (800, 2500)  # ticks
# After the faults stop: a device that has just started is silent for a promise; the ranks, the jitter, the
# reluctance and one failed round with its waiting come on top.
BOUND = 800
STABLE_FOR = 400
KINDS = (
    "loss",
    "delay",
    "doubling",
    "one-way",
    "partition",
    "crash",
    "write",
    "pause",
    "drift",
    "join",
    "hand",
)


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
        self.kinds = {kind for kind in KINDS if draw.random() < draw.choice((0.2, 0.7))}
        self.flapping = count > 2 and draw.random() < 0.1
        forgets = draw.random() < 0.1
        self.plotted = count > 2 and not self.flapping and draw.random() < 0.15
        if self.flapping or forgets:
            self.kinds.discard("join")
        if self.plotted:
            self.kinds &= {"drift"}
        self.healed = False
        equal = draw.random() < 0.5
        voters = tuple(Voter(name, 0 if equal else draw.randrange(4)) for name in NAMES[:count])
        drift = DRIFT if "drift" in self.kinds else 0.0
        self.home = Household(voters, seed, drift=drift, machine=machine, claims=claims, trace=trace)
        self.home.forgetful = forgets
        self.home.note(f"{count} devices; {', '.join(sorted(self.kinds)) or 'no faults'}")

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
            self.random.choice(
                (self._slow_down_and_mute, self._bounce_those_who_promised, self._contest, self._split)
            )()
            home.run(home.now + length)
        else:
            self._harm()
            self._plan_faults(length)
            home.run(settle + length)
        self._heal()
        healed = home.now
        home.run(healed + BOUND)
        recovery = max((when - healed for when, _, _ in home.takeovers), default=0.0)
        self._expect_one()
        before = (home.driving()[0].id, len(home.takeovers))
        home.run(healed + BOUND + STABLE_FOR)
        self._expect_one()
        if before != (home.driving()[0].id, len(home.takeovers)):
            raise BrokenError("the driver changed though nothing was wrong")
        runs = sum(len(starts) for starts in home.starts.values())
        return Result(home.seed, len(home.hosts), max(0.0, recovery), len(home.takeovers), runs, home.sent)

    def _plan_slots(self, length: float) -> None:
        due, number = 100.0, 0
        while due < length:
            self.home.slots.append(Slot(f"slot{number}", due, self.random.random() < 0.5))
            due, number = due + self.random.uniform(100, 500), number + 1

    def _harm(self) -> None:
        network, draw = self.home.network, self.random
        if "loss" in self.kinds:
            network.loss = draw.choice((0.05, 0.2, 0.5))
        if "delay" in self.kinds:
            network.longest = draw.choice((25, 25, 100, 200))
            network.shortest = draw.choice((0.2, network.longest / 2))
        if "doubling" in self.kinds:
            network.doubling = 0.2
        if "write" in self.kinds:
            self.home.slowest_write = draw.choice((5, 30))
        if "crash" in self.kinds:
            self.home.crash_chance = draw.choice((0.01, 0.05))

    def _plan_faults(self, length: int) -> None:
        often = self.random.choice((25, 60, 150))
        when = self.random.uniform(0, often)
        acts: list[Callable[[], None]] = [self._restart]
        by_kind = {
            "partition": [
                self._split,
                self._isolate,
                self._estrange,
                self._slow_down_and_mute,
                self._reconnect,
            ],
            "one-way": [self._cut_some, self._reconnect],
            "crash": [self._kill, self._bounce, self._bounce_those_who_promised],
            "pause": [self._pause],
            "delay": [self._slow_down],
            "join": [self._join, self._leave, self._enrol_again, self._join_while_cut],
            "hand": [self._take, self._give, self._sulk, self._contest],
        }
        for kind, its in by_kind.items():
            acts += its if kind in self.kinds else []
        while when < length:
            self.home.at(when, self.random.choice(acts))
            when += self.random.uniform(1, 2 * often)

    def _some(self, up: bool = True) -> Host | None:
        hosts = [host for host in self.home.hosts.values() if (host.election is not None) == up]
        return self.random.choice(hosts) if hosts else None

    # Faults

    def _split(self) -> None:
        count = self.random.choice((2, 2, 3))
        side = {name: self.random.randrange(count) for name in self.home.hosts}
        self.home.network.cut = {(a, b) for a in side for b in side if side[a] != side[b]}
        self.home.note(f"split {side}")

    def _isolate(self) -> None:
        drivers = self.home.driving()
        host = drivers[0] if drivers and self.random.random() < 0.7 else self._some()
        if host is not None:
            for other in self.home.hosts:
                self.home.network.cut |= {(host.id, other), (other, host.id)}
            self.home.note(f"{host.id} is cut off")

    def _estrange(self) -> None:
        """The driver and one other hear each other no more; the rest hear both."""
        drivers, other = self.home.driving(), self._some()
        if drivers and other is not None and other is not drivers[0]:
            pair = (drivers[0].id, other.id)
            self.home.network.cut |= {pair, pair[::-1]}
            self.home.note(f"{pair[0]} and {pair[1]} do not hear each other")

    def _slow_down(self) -> None:
        """One device, mostly the driver, is far away."""
        drivers = self.home.driving()
        host = drivers[0] if drivers and self.random.random() < 0.7 else self._some()
        if host is not None:
            self.home.network.far = {host.id: self.random.uniform(20, 200)}
            self.home.note(f"{host.id} is far away")

    def _slow_down_and_mute(self) -> None:
        """The answers that the driver counts are old when they arrive, and it is not heard any more."""
        drivers = self.home.driving()
        for driver in drivers:
            self.home.network.far = {driver.id: self.random.uniform(20, 200)}
        self._later(400, 600, lambda: self._mute(drivers))

    def _mute(self, hosts: list[Host]) -> None:
        for host in hosts:
            self.home.network.cut |= {(host.id, other) for other in self.home.hosts}
            self.home.note(f"{host.id} is not heard any more")

    def _later(self, soonest: float, latest: float, act: Callable[[], None]) -> None:
        """A further fault, unless the faults have stopped by then."""
        self.home.at(self.random.uniform(soonest, latest), lambda: None if self.healed else act())

    def _cut_some(self) -> None:
        names = list(self.home.hosts)
        for _ in range(self.random.randrange(1, len(names) + 1)):
            pair = (self.random.choice(names), self.random.choice(names))
            self.home.network.cut.add(pair)
            self.home.note(f"{pair[0]} is not heard by {pair[1]}")

    def _reconnect(self) -> None:
        self.home.network.cut = set()
        self.home.note("all links are back")

    def _kill(self) -> None:
        drivers = self.home.driving()
        host = drivers[0] if drivers and self.random.random() < 0.5 else self._some()
        if host is not None:
            self.home.keep_image(host)
            self.home.crash(host)

    def _bounce(self) -> None:
        """Killed, and started again at once."""
        host = self._some()
        if host is not None:
            self._bounce_it(host)

    def _bounce_it(self, host: Host) -> None:
        self.home.crash(host)
        self.home.at(self.random.uniform(0.1, 10), lambda: self.home.start(host))

    def _bounce_those_who_promised(self) -> None:
        """One device has long not heard the driver; then all that have are killed and started again."""
        self._estrange()
        drivers = self.home.driving()

        def bounce() -> None:
            for host in self.home.hosts.values():
                if host not in drivers and not {host.id, *(d.id for d in drivers)} <= self._cut_off():
                    self._bounce_it(host)

        self._later(300, 600, bounce)

    def _restart(self) -> None:
        host = self._some(up=False)
        if host is not None:
            old = self.home.forgetful and self.random.random() < 0.5
            self.home.start(host, self.random.randrange(1, 9) if old else None)

    def _pause(self) -> None:
        drivers = self.home.driving()
        host = drivers[0] if drivers and self.random.random() < 0.7 else self._some()
        if host is not None:
            self.home.pause(host, self.random.choice((20, 250, 300, 600)))

    def _take(self) -> None:
        host = self._some()
        if host is not None:
            self.home.note(f"a person wants {host.id} to drive")
            self.home.feed(host, lambda election: election.take(host.clock(self.home.now)))

    def _contest(self) -> None:
        """The driver is killed; on a slow network several ask for votes before they hear of each other."""
        self.home.network.shortest, self.home.network.longest = 12, 28
        for driver in self.home.driving():
            self.home.crash(driver)

    def _give(self) -> None:
        for host in self.home.driving():
            self._tell_to_give(host)

    def _tell_to_give(self, host: Host) -> None:
        self.home.feed(host, lambda election: election.give("told to", host.clock(self.home.now)))

    def _sulk(self) -> None:
        host, willing = self._some(), self.random.random() < 0.5
        if host is not None:
            self._make_willing(host, willing)

    def _make_willing(self, host: Host, willing: bool) -> None:
        self.home.feed(host, lambda election: election.set_willing(willing, host.clock(self.home.now)))

    def _join(self) -> None:
        drivers, count = self._drivers_within(), len(self.home.hosts)
        if drivers and count < len(NAMES):
            voter = Voter(NAMES[count], self.random.randrange(4))
            host = self.home.add_host(voter.id, Durable(Membership.alone(voter)))
            self.home.enrol(drivers[0], host, voter)

    def _drivers_within(self) -> list[Host]:
        """Without the drivers of households of one that were about to be let in, or were removed."""
        return [
            host for host in self.home.driving() if self._is_enrolled(host) and not self.home.is_outside(host)
        ]

    def _enrol_again(self) -> None:
        drivers = self._drivers_within()
        outside = self.home.hosts.keys() - {"", *_members(drivers[0])} if drivers else set()
        if outside:
            host = self.home.hosts[min(outside)]
            self.home.enrol(drivers[0], host, Voter(host.id))

    def _join_while_cut(self) -> None:
        """Half of the others have just stopped hearing the driver, which does not know that yet."""
        drivers = self._drivers_within()
        if drivers:
            others = [name for name in self.home.hosts if name != drivers[0].id]
            far = self.random.sample(others, (len(others) + 1) // 2)
            near = [name for name in NAMES if name not in far]
            self.home.network.cut |= {pair for a in far for b in near for pair in ((a, b), (b, a))}
            self.home.note(f"{' '.join(far)} are cut off from the others")
            self._join()
            self._later(40, 60, self._join)

    def _leave(self) -> None:
        """Of two devices neither forgets the other while they cannot talk: those would be two households."""
        drivers = self.home.driving()
        if not drivers or drivers[0].election is None:
            return
        driver, membership = drivers[0], drivers[0].election.membership
        peers = [
            peer
            for peer in membership.peers(driver.id)
            if membership.rule is Rule.MAJORITY
            or (self.home.hosts[peer].election and not {driver.id, peer} & self._cut_off())
        ]
        if peers:
            self.home.ask_change(driver, membership.without(self.random.choice(peers)))

    def _cut_off(self) -> set[str]:
        return {name for pair in self.home.network.cut for name in pair}

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

    def _heal(self) -> None:
        home = self.home
        home.note("the faults stop")
        self.healed = True
        home.network.cut, home.network.loss, home.network.doubling = set(), 0.0, 0.0
        home.network.far = {}
        home.network.shortest, home.network.longest = 0.2, 2.0
        home.slowest_write, home.crash_chance = 2.0, 0.0
        for host in home.hosts.values():
            host.paused_until = min(host.paused_until, home.now)
            home.start(host)
            home.resume(host)

    def _expect_one(self) -> None:
        """Exactly one drives, and every device that is enrolled with it follows it. Two devices that removed
        each other while they could not hear each other are two households."""
        home = self.home
        driving = [host for host in home.driving() if self._is_enrolled(host) and not home.is_outside(host)]
        if not driving or (len(driving) > 1 and not home.small):
            raise BrokenError(f"{len(driving)} drive after the faults: {self._roles()}")
        for driver in driving:
            for other in home.hosts.values():
                if driver.id in _members(other) and other.id in _members(driver):
                    self._expect_follows(other, driver)

    def _expect_follows(self, host: Host, driver: Host) -> None:
        others = any(
            driver.id in _members(self.home.hosts[name]) for name in _members(driver) if name != driver.id
        )
        word = Role.FOLLOWER if host is not driver else Role.DRIVER if others else Role.ALONE
        if not host.election or host.election.driver != driver.id or host.election.role is not word:
            raise BrokenError(f"{host.id} does not know that {driver.id} drives: {self._roles()}")

    def _is_enrolled(self, host: Host) -> bool:
        """Whether no newer membership in the household lacks this device."""
        mine = host.election.membership if host.election else None
        return mine is not None and all(
            host.id in _members(other) or other.election.membership.stamp < mine.stamp
            for other in self.home.hosts.values()
            if other.election and other.id in mine.ids
        )

    def _roles(self) -> str:
        return ", ".join(
            f"{host.id} {host.election.role} ({' '.join(_members(host))})"
            for host in self.home.hosts.values()
            if host.election
        )


def _members(host: Host) -> tuple[str, ...]:
    return host.election.membership.ids if host.election else ()


def play(
    seed: int,
    machine: type[Election] = Election,
    claims: type[Claiming] = Claiming,
    trace: Callable[[str], None] | None = None,
) -> Result:
    """One run; with the same seed always the same. Raises `BrokenError`."""
    return Run(seed, machine, claims, trace).play()
