"""What goes wrong in a simulated household, and how hard. Deterministic for a seed.

Knows single faults and how they are strung together; not what must be true afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Durable
from tests.seat.host import Host
from tests.seat.household import Household

NAMES = "abcdefghijkl"
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


class Faults:
    """Of these `kinds`."""

    def __init__(self, home: Household, draw: random.Random, kinds: set[str]) -> None:
        self.home, self.random, self.kinds = home, draw, kinds
        self._over = False

    def harm(self) -> None:
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

    def plan(self, length: int) -> None:
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
        self.home.at(self.random.uniform(soonest, latest), lambda: None if self._over else act())

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
            old = self.home.invariants.forgetful and self.random.random() < 0.5
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
        why = "" if willing else "it is hot"
        self.home.feed(host, lambda election: election.set_reluctance(why, host.clock(self.home.now)))

    def _join(self, latest: float = 300) -> None:
        """A device that drives a household of its own, for the first time or not, is let in after a while."""
        count, term = len(self.home.hosts), self.random.choice((0, 0, 1, 2, 10))
        if self._drivers_within() and count < len(NAMES):
            voter = Voter(NAMES[count], self.random.randrange(4))
            own = Durable(Membership.alone(voter).stamped(term), term)
            host = self.home.add_host(voter.id, own)
            self._later(3, latest, lambda: self._let_in(host, voter))

    def _let_in(self, host: Host, voter: Voter) -> None:
        drivers = self._drivers_within()
        if drivers and members(host) == (host.id,):
            self.home.enrol(drivers[0], host, voter)

    def _drivers_within(self) -> list[Host]:
        """Without the drivers of households of one that were about to be let in, or were removed."""
        return [
            host
            for host in self.home.driving()
            if is_enrolled(self.home, host) and not self.home.is_outside(host)
        ]

    def _enrol_again(self) -> None:
        """A device that was removed, or was never let in; nobody is in two households."""
        drivers = self._drivers_within()
        outside = self.home.hosts.keys() - {"", *members(drivers[0])} if drivers else set()
        outside -= {name for name in outside if is_at_home(self.home, self.home.hosts[name])}
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
            self._join(latest=10)
            self._later(40, 60, lambda: self._join(latest=10))

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

    def stop(self) -> None:
        """Everything works again, and every device is on."""
        home = self.home
        home.note("the faults stop")
        self._over = True
        home.network.cut, home.network.loss, home.network.doubling = set(), 0.0, 0.0
        home.network.far = {}
        home.network.shortest, home.network.longest = 0.2, 2.0
        home.slowest_write, home.crash_chance = 2.0, 0.0
        for host in home.hosts.values():
            host.paused_until = min(host.paused_until, home.now)
            home.start(host)
            home.resume(host)

    def plot(self) -> None:
        """A coincidence that takes a while to come about."""
        plots = (self._slow_down_and_mute, self._bounce_those_who_promised, self._contest, self._split)
        self.random.choice(plots)()


def members(host: Host) -> tuple[str, ...]:
    """Who is enrolled, as far as it knows."""
    return host.election.membership.ids if host.election else ()


def is_at_home(home: Household, host: Host) -> bool:
    """Whether it has a household with others, and they have not removed it."""
    return len(members(host)) > 1 and is_enrolled(home, host)


def is_enrolled(home: Household, host: Host) -> bool:
    """Whether no newer membership in the household lacks this device."""
    mine = host.election.membership if host.election else None
    return mine is not None and all(
        host.id in members(other) or other.election.membership.stamp < mine.stamp
        for other in home.hosts.values()
        if other.election and other.id in mine.ids
    )
