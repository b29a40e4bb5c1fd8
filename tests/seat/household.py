"""A household in virtual time: hosts with clocks, disks and a network that fails in every way, and the checks
that no failure may break. Deterministic for a seed; times are ticks of true time.

Knows the machines under test only from outside. What fails and when is `faults`'.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import replace

from muleteer.seat.claiming import Claiming, Outcome, Saying
from muleteer.seat.claims import Claim, Settled, State, Verdict, unsettled
from muleteer.seat.election import Election
from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Durable, Message, Output, Role
from tests.seat.host import Host, Network, Slot
from tests.seat.invariants import Invariants

WORK_EVERY = 100  # ticks: how often a driver looks for slots that are due
GRACE = 600  # ticks after which a slot is not claimed any more
RUN_STEP = 20  # ticks: how often a run asks whether it may go on


class Household:
    """The hosts, the network between them, and what has happened."""

    def __init__(
        self,
        voters: tuple[Voter, ...],
        seed: int,
        *,
        drift: float = 0.0,
        machine: type[Election] = Election,
        claims: type[Claiming] = Claiming,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.random = random.Random(seed)
        self.seed, self.machine, self.claims, self.trace = seed, machine, claims, trace
        self.now = 0.0
        self.network = Network()
        self.hosts: dict[str, Host] = {}
        self.drift = drift
        self.slots: list[Slot] = []
        self.invariants = Invariants(self.hosts, small=len(voters) < 3)
        self.crash_chance = 0.0
        self.slowest_write = 2.0
        self.sent = 0
        self.takeovers: list[tuple[float, str, int]] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        membership = Membership(voters, rule=Rule.MAJORITY if len(voters) > 2 else Rule.ONE)
        for voter in voters:
            self.add_host(voter.id, Durable(membership))

    # Time

    def at(self, delay: float, act: Callable[[], None]) -> None:
        """Do that after so many ticks of true time."""
        self._count += 1
        heapq.heappush(self._events, (self.now + delay, self._count, act))

    def run(self, until: float) -> None:
        """Let time pass. Raises `BrokenError`."""
        while self._events and self._events[0][0] <= until:
            self.now, _, act = heapq.heappop(self._events)
            act()
        self.now = until

    def note(self, text: str) -> None:
        """One line of the transcript."""
        if self.trace is not None:
            self.trace(f"{self.now:9.1f} {text}")

    # Hosts

    def add_host(self, id: str, disk: Durable) -> Host:
        """A device that has never been started."""
        rate = 1.0 + self.random.choice((-1, -0.5, 0, 0.5, 1)) * self.drift
        host = self.hosts[id] = Host(id, rate, self.random.randrange(100_000), disk)
        self.start(host)
        return host

    def start(self, host: Host, image: int | None = None) -> None:
        """Start its process, from its disk, or from an older image of it."""
        if host.election is not None:
            return
        if image is not None and host.images:
            host.disk, host.disk_book = host.images[image % len(host.images)]
            host.disk_book = dict(host.disk_book)
        host.boots += 1
        host.election = self.machine(
            host.id,
            host.disk,
            seed=self.random.randrange(1 << 30),
            boot=host.boots,
            now=host.clock(self.now),
        )
        host.claiming = self.claims(host.id, host.disk_book.values())
        host.paused_until, host.writing, host.wake_scheduled = 0.0, False, math.inf
        host.queue.clear()
        host.unfinished = None
        host.wanted = None
        self.note(f"{host.id} starts with term {host.disk.term}" + (" (old image)" if image else ""))
        self._schedule(host)
        self._work(host, host.boots)

    def crash(self, host: Host, why: str = "is killed") -> None:
        """End its process at once; its disk stays."""
        if host.election is not None:
            self.note(f"{host.id} {why}")
            host.election = None
            host.running.clear()

    def pause(self, host: Host, ticks: float) -> None:
        """Suspend it; what arrives in the meantime waits."""
        host.paused_until = max(host.paused_until, self.now + ticks)
        self.note(f"{host.id} is suspended for {ticks:.0f}")
        boots = host.boots
        self.at(ticks + 1e-3, lambda: self._resume(host, boots))

    def _resume(self, host: Host, boots: int) -> None:
        if host.boots == boots and self.now >= host.paused_until:
            self.resume(host)

    def resume(self, host: Host) -> None:
        """It is awake: what has arrived in the meantime comes first."""
        if host.unfinished is not None and self.now >= host.paused_until:
            host.unfinished()
        self._drain(host)
        self._schedule(host)

    def _drain(self, host: Host) -> None:
        while host.queue and host.election and not host.writing and self.now >= host.paused_until:
            host.queue.popleft()()

    def feed(self, host: Host, act: Callable[[Election], Output]) -> None:
        """Give its election an input, now or when it can take one."""
        if host.election is None:
            return
        if host.writing or self.now < host.paused_until:
            host.queue.append(lambda: self.feed(host, act))
            return
        self._carry_out(host, act(host.election))
        self.invariants.acts(host, self.now)

    def _schedule(self, host: Host) -> None:
        if host.election is None or host.writing or self.now < host.paused_until:
            return
        wake = min(host.election.wake_at, host.claiming.wake_at)
        due = max(host.true(wake), self.now + 0.01)
        if due < host.wake_scheduled and wake < 1 << 40:
            host.wake_scheduled = due
            boots = host.boots
            self.at(due - self.now, lambda: self._wake(host, boots, due))

    def _wake(self, host: Host, boots: int, due: float) -> None:
        if host.boots != boots or host.election is None or host.wake_scheduled != due:
            return
        host.wake_scheduled = math.inf
        clock = host.clock(self.now)
        if clock >= host.claiming.wake_at:
            self._heed(host, host.claiming.tick(clock))
        if host.election is not None and clock >= host.election.wake_at:
            self.feed(host, lambda election: election.tick(host.clock(self.now)))
        self._schedule(host)

    # Outputs

    def _carry_out(self, host: Host, output: Output) -> None:
        if output.durable is None:
            self._tell(host, output)
            return
        if self._chance(self.crash_chance):
            self.crash(host, "is killed before a write")
            return
        host.writing = True
        boots, durable = host.boots, output.durable
        self.at(
            self.random.random() * self.slowest_write,
            lambda: self._written(host, boots, durable, output),
        )

    def _written(self, host: Host, boots: int, durable: Durable, output: Output) -> None:
        if host.boots != boots or host.election is None:
            return
        if self.now < host.paused_until:
            host.unfinished = lambda: self._written(host, boots, durable, output)
            return
        host.unfinished = None
        self.keep_image(host)
        host.disk = durable
        host.writing = False
        host.election.saved()
        if self._chance(self.crash_chance):
            self.crash(host, "is killed after a write")
            return
        self._tell(host, output)
        self.invariants.acts(host, self.now)
        self._drain(host)
        self._schedule(host)

    def keep_image(self, host: Host) -> None:
        """Remember its disk as it is."""
        if self.invariants.forgetful and len(host.images) < 8:
            host.images.append((host.disk, dict(host.disk_book)))

    def _tell(self, host: Host, output: Output) -> None:
        for change in output.changes:
            self.note(f"{host.id} {change.line()}")
            if change.role in (Role.DRIVER, Role.ALONE):
                self.takeovers.append((self.now, host.id, change.term))
                self.invariants.enters(host, change.term)
        for warning in output.warnings:
            self.note(f"{host.id} warns: {warning}")
        for message in output.messages:
            if self._chance(self.crash_chance / 4):
                self.crash(host, "is killed while it sends")
                return
            self.transmit(message)
        self._follow_role(host)
        self._schedule(host)

    def _follow_role(self, host: Host) -> None:
        election = host.election
        if election is None:
            return
        if election.role in (Role.DRIVER, Role.ALONE):
            self._heed(host, host.claiming.begin(election.term, election.membership, host.clock(self.now)))
            self._change(host)
        else:
            host.claiming.stop()
            host.wanted = None

    def transmit(self, message: Message | Saying) -> None:
        """Lose, delay, double or deliver it."""
        self.sent += 1
        if (message.source, message.target) in self.network.cut or self._chance(self.network.loss):
            return
        for _ in range(2 if self._chance(self.network.doubling) else 1):
            far = max(self.network.far.get(message.source, 0.0), self.network.far.get(message.target, 0.0))
            delay = self.random.uniform(self.network.shortest, self.network.longest) + far
            self.at(delay, lambda: self._deliver(message))

    def _deliver(self, message: Message | Saying) -> None:
        host = self.hosts.get(message.target)
        if host is None or host.election is None:
            return
        if isinstance(message, Message):
            if self.trace is not None:
                self.note(f"{message.source} -> {message.target} {_brief(message)}")
            self.feed(host, lambda election: election.step(message, host.clock(self.now)))
        elif host.writing or self.now < host.paused_until:
            host.queue.append(lambda: self._deliver(message))
        elif message.source in host.election.membership.ids or host.wanted is not None:
            self._heed(host, host.claiming.step(message, host.election.term, host.clock(self.now)))
            self._change(host)
            self._schedule(host)

    # Work

    def _heed(self, host: Host, outcome: Outcome) -> None:
        if outcome.store:
            if self._chance(self.crash_chance):
                self.crash(host, "is killed before it keeps a claim")
                return
            for claim in outcome.store:
                host.disk_book[claim.key] = claim
            if self._chance(self.crash_chance):
                self.crash(host, "is killed after it kept a claim")
                return
        for saying in outcome.sayings:
            self.transmit(saying)
        for settled in outcome.settled:
            self._settle(host, settled)

    def _settle(self, host: Host, settled: Settled) -> None:
        claim = settled.claim
        self.note(
            f"{host.id} is told to {settled.verdict} {claim.skill} {claim.slot} attempt {claim.attempt}"
        )
        if settled.verdict is not Verdict.RUN or not host.drives(self.now):
            return
        self.note(f"{host.id} runs {claim.slot} attempt {claim.attempt}")
        self.invariants.runs(host, claim, self.now)
        host.running[claim.key] = claim
        self._run_on(host, host.boots, claim, self.random.uniform(0, 150))

    def _run_on(self, host: Host, boots: int, claim: Claim, left: float) -> None:
        if host.boots != boots or host.running.get(claim.key) is not claim:
            return
        if self.now < host.paused_until:
            self.at(host.paused_until - self.now + 0.1, lambda: self._run_on(host, boots, claim, left))
        elif not host.may_go_on(claim, self.now):
            self.note(f"{host.id} stops in the middle of {claim.slot}")
            del host.running[claim.key]
        elif left > 0:
            self.at(RUN_STEP, lambda: self._run_on(host, boots, claim, left - RUN_STEP))
        else:
            del host.running[claim.key]
            state = State.DONE if self._chance(0.8) else State.FAILED
            self._heed(host, host.claiming.finish(claim, state, host.clock(self.now)))

    def _work(self, host: Host, boots: int) -> None:
        if host.boots != boots or host.election is None:
            return
        self.at(WORK_EVERY, lambda: self._work(host, boots))
        if host.writing or self.now < host.paused_until or not host.drives(self.now) or self.is_outside(host):
            return
        term = host.election.term
        if host.claiming.is_caught_up():
            for left in unsettled(host.claiming.book.values(), term):
                self._claim(host, left.slot, term, left.repeatable)
        for slot in self.slots:
            if slot.due <= self.now <= slot.due + GRACE and ("work", slot.name) not in host.claiming.book:
                self._claim(host, slot.name, term, slot.repeatable)
        self._schedule(host)

    def _claim(self, host: Host, slot: str, term: int, repeatable: bool) -> None:
        if host.claiming.drives_in(term) and (slot, term) not in host.tried:
            host.tried.add((slot, term))
            claim = Claim("work", slot, term, host.id, repeatable)
            self._heed(host, host.claiming.claim(claim, host.clock(self.now)))

    # Who is enrolled

    def is_outside(self, host: Host) -> bool:
        """Whether a device that was about to be let in has remained a household of its own."""
        return (
            not self.invariants.small
            and host.election is not None
            and host.election.membership.ids == (host.id,)
        )

    def enrol(self, driver: Host, host: Host, voter: Voter) -> None:
        """Let a device in: when it has entered the household durably, the driver is asked to enrol it."""
        if driver.election is None or host.election is None:
            return
        membership, term, before = driver.election.membership, driver.election.term, host.election.membership

        def enter(election: Election) -> Output:  # unless it has let in another while it was suspended
            is_as_before = election.membership.ids == before.ids
            return election.adopt(membership, host.clock(self.now)) if is_as_before else Output()

        self.feed(host, enter)

        def entered() -> None:
            ready = host.election and host.disk.membership == membership and not host.writing
            if ready and driver.election and driver.election.term == term:
                self.ask_change(driver, driver.election.membership.with_voter(voter))

        self.at(20, entered)

    def ask_change(self, host: Host, wanted: tuple[Voter, ...]) -> None:
        """A person enrols or removes a device at the driver: books first, then the membership."""
        election = host.election
        if election is not None and host.wanted is None and host.drives(self.now) and not host.writing:
            newcomer = next((v.id for v in wanted if v.id not in election.membership.ids), "")
            host.wanted = wanted
            self._heed(host, host.claiming.share(newcomer, host.clock(self.now)))
            self._change(host)

    def _change(self, host: Host) -> None:
        election, wanted = host.election, host.wanted
        if election is None or wanted is None or host.writing or self.now < host.paused_until:
            return
        after = replace(election.membership, voters=wanted)
        if not (host.claiming.is_shared(election.membership) and host.claiming.is_shared(after)):
            return
        host.wanted = None
        if len(wanted) < 3:
            self.invariants.small = True
        try:
            output = election.change(wanted, host.clock(self.now))
        except ValueError as refusal:
            self.note(f"{host.id} refuses: {refusal}")
            return
        self.note(f"{host.id} changes the household to {' '.join(v.id for v in wanted)}")
        self._carry_out(host, output)
        self.invariants.acts(host, self.now)

    def driving(self) -> list[Host]:
        """The hosts that may act now."""
        return [host for host in self.hosts.values() if host.drives(self.now)]

    def _chance(self, probability: float) -> bool:
        return probability > 0 and self.random.random() < probability


def _brief(message: Message) -> str:
    marks = [f"term {message.term}"]
    marks += ["granted"] if message.granted else []
    marks += [f"released {message.released}"] if message.released else []
    marks += [f"to {message.successor}"] if message.successor else []
    marks += [f"members {' '.join(message.membership.ids)}"] if message.membership else []
    return f"{message.kind} ({', '.join(marks)})"
