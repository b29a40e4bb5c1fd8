"""The books of one driver's time: who answered what, until when it may drive, what to send next. Pure.

Knows clocks and answers of one term; not how the term was won, nor what ends it but time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muleteer.seat.membership import Membership, Rule, Stamp
from muleteer.seat.messages import Message
from muleteer.seat.timing import Timing

FAR = 1 << 62  # ticks: never


@dataclass(slots=True)
class Reign:
    """Since `began`, in ticks. `acked` has, for each peer, the clock of the latest heartbeat it answered."""

    term: int
    began: int
    timing: Timing
    acked: dict[str, int] = field(default_factory=dict)
    heard: dict[str, int] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    unwilling: set[str] = field(default_factory=set)
    earned: int | None = None  # the lease that the membership before the present one gave
    beaten: int = 0
    beat_at: int = 0
    retry_at: int = FAR

    def answered(self, message: Message, now: int) -> None:
        """A peer has answered a heartbeat of this term."""
        peer = message.source
        self.acked[peer] = max(message.clock, self.acked.get(peer, 0))
        self.heard[peer] = now
        self.stamps[peer] = message.stamp
        (self.unwilling.discard if message.willing else self.unwilling.add)(peer)

    def lease_until(self, membership: Membership, me: str) -> int | None:
        """The first tick at which this device may no longer drive; None before a quorum has answered. Only
        where a majority is required."""
        clocks = sorted((self.acked[id] for id in membership.peers(me) if id in self.acked), reverse=True)
        others = membership.quorum - 1
        if len(clocks) < others:
            return self.earned
        return max(clocks[others - 1] + self.timing.lease, self.earned or 0)

    def is_present(self, peer: str, now: int) -> bool:
        """Whether the peer has answered within the last lease."""
        return now < self.heard.get(peer, -FAR) + self.timing.lease

    def installed(self, membership: Membership, me: str) -> bool:
        """Whether a quorum holds this very membership."""
        same = sum(self.stamps.get(peer) == membership.stamp for peer in membership.peers(me))
        return same + 1 >= membership.quorum

    def due(self, peers: tuple[str, ...], now: int) -> tuple[str, ...]:
        """The peers to send a heartbeat to now: all of them every heartbeat; sooner those that have not
        answered the last one, unless they have been silent for longer."""
        if now >= self.beat_at:
            self.beaten, self.beat_at, self.retry_at = (
                now,
                now + self.timing.heartbeat,
                now + self.timing.retry,
            )
            return peers
        if now < self.retry_at:
            return ()
        late = tuple(
            peer
            for peer in peers
            if self.acked.get(peer, -1) < self.beaten
            and now < self.heard.get(peer, self.began) + self.timing.promise
        )
        self.retry_at = now + self.timing.retry if late else FAR
        return late

    def over_at(self, membership: Membership, me: str) -> int:
        """The tick at which the others' consent ends: that of a quorum, or of the only other device."""
        if membership.rule is Rule.MAJORITY:
            leased = self.lease_until(membership, me)
            return self.began + self.timing.promise if leased is None else leased
        heard = [self.heard[peer] for peer in membership.peers(me) if peer in self.heard]
        return max(heard, default=FAR) + self.timing.lease
