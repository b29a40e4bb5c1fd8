"""How long things take, in ticks of 10 ms of a clock that also counts while the board is suspended
(CLOCK_BOOTTIME).

A follower that answers a heartbeat promises to vote for nobody else for `promise` of its own ticks, counted
from when the heartbeat arrived. The driver may drive for `lease` of its own ticks, counted from when it sent
the heartbeat, which is earlier. With every clock within `DRIFT` of true time, a lease ends before the
promise: lease / (1 - DRIFT) < promise / (1 + DRIFT). All devices of a household must use the same figures.
"""

from __future__ import annotations

from dataclasses import dataclass

TICK_SECONDS = 0.01
# The assumed bound on how far a clock's rate is off. Crystals are within 0.01 %, and the kernel slews a clock
# by 0.05 % at most; the rest is for boards nobody has measured.
DRIFT = 0.01
LEASE_MARGIN = 10  # ticks between the end of a lease and the end of the promise: to stop what is being done
ROUNDING = 2  # ticks: each side's count may be one short


@dataclass(frozen=True, slots=True)
class Timing:
    """In ticks. A driver that is killed has a successor within promise + ranks + jitter + reluctance + one
    round trip of pre-vote and vote: 4.7 s and the round trips."""

    # A beat costs, for each follower, two datagrams of 80 bytes on the wire (`beats`), one of them the
    # driver's: of five devices it sends 168 bytes/s, announcements included. Over connections it would be
    # 342.
    heartbeat: int = 200
    retry: int = 20  # an unanswered message is repeated after this; longer than any home network's round trip
    promise: int = 330
    slot: int = 20  # between two ranks: an election with two writes to an SD card fits
    ranks: int = 80  # all ranks together
    jitter: int = 10
    reluctance: int = 50  # a device that is hot, on battery or busy lets others go first
    round: int = 60  # one round of asking: three tries
    soon: int = 40  # after a release, if the successor does not come
    again: int = 30  # before the first further round; doubled up to `seldom`
    seldom: int = 150
    patience: int = 3000  # two devices: a network that comes up late after the start is not a dead peer

    @property
    def lease(self) -> int:
        """How long a driver may drive after it sent the heartbeat that a quorum answered."""
        return int(self.promise * (1 - DRIFT) / (1 + DRIFT)) - LEASE_MARGIN - ROUNDING
