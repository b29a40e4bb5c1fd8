"""One simulated device, what connects it with others, and the work it is given. Times are ticks of true time.

Knows clocks and disks; not what happens to them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from muleteer.seat.claiming import Claiming
from muleteer.seat.claims import Claim
from muleteer.seat.election import Election
from muleteer.seat.membership import Voter
from muleteer.seat.messages import Durable

MOST_QUEUED = 64  # inputs a paused host finds when it wakes; a socket's buffer holds about as many


@dataclass(frozen=True, slots=True)
class Slot:
    """One piece of background work, due at that time."""

    name: str
    due: float
    repeatable: bool


@dataclass
class Network:
    """`cut` has the (from, to) pairs that lose everything."""

    loss: float = 0.0
    doubling: float = 0.0
    shortest: float = 0.2
    longest: float = 2.0
    cut: set[tuple[str, str]] = field(default_factory=set)
    far: dict[str, float] = field(default_factory=dict)  # ticks more, from and to these


class Host:
    """One device: its clock, its disk, and the machines while it is up."""

    def __init__(self, id: str, rate: float, offset: int, disk: Durable) -> None:
        self.id, self.rate, self.offset = id, rate, offset
        self.disk, self.disk_book = disk, dict[tuple[str, str], Claim]()
        self.images: list[tuple[Durable, dict[tuple[str, str], Claim]]] = []
        self.election: Election | None = None
        self.claiming = Claiming(id)
        self.boots = 0
        self.paused_until = 0.0
        self.writing = False
        self.unfinished: Callable[[], None] | None = None  # a write that ended while it was suspended
        self.queue: deque[Callable[[], None]] = deque(maxlen=MOST_QUEUED)
        self.running: dict[tuple[str, str], Claim] = {}
        self.wake_scheduled = math.inf
        self.tried: set[tuple[str, int]] = set()
        self.wanted: tuple[Voter, ...] | None = None

    def clock(self, true: float) -> int:
        """What its clock shows, in ticks."""
        return int(true * self.rate) + self.offset

    def true(self, clock: int) -> float:
        """The first true time at which its clock shows that."""
        return max(0.0, (clock - self.offset) / self.rate) + 1e-6

    def drives(self, true: float) -> bool:
        """Whether it may act at that moment."""
        return self.election is not None and self.election.drives(self.clock(true))

    def may_go_on(self, claim: Claim, true: float) -> bool:
        """Whether it may go on with what it claimed."""
        return self.drives(true) and self.election is not None and self.election.term == claim.term
