"""What a device does while it drives: heartbeats, looking at its lease, handing over, and changing who is
enrolled. Pure.

Knows how a reign goes on and ends; not how one is won, nor what another device's message means.
"""

from __future__ import annotations

from muleteer.seat.membership import Rule, Voter
from muleteer.seat.messages import Kind, Role
from muleteer.seat.reign import Reign
from muleteer.seat.roles import Roles
from muleteer.seat.timing import TICK_SECONDS


class Tenure(Roles):
    """The driver's part of the election."""

    def _beat(self, reign: Reign) -> None:
        for peer in reign.due(self._peers, self.now):
            behind = reign.stamps.get(peer) != self.membership.stamp
            self._send(Kind.HEARTBEAT, peer, clock=self.now, enclose=behind)

    def _look_at_lease(self, reign: Reign, passed: int) -> None:
        over = self.now >= reign.over_at(self.membership, self.me)
        if self.membership.rule is Rule.MAJORITY:
            if over:
                self.become_no_majority("too few devices answer its heartbeats")
                self._deadline = self.now + self._back_off()
        elif self._peers and passed >= self.timing.lease:
            self.become_follower("", f"it was suspended for {passed * TICK_SECONDS:.0f} s")
            self._deadline = self.now + self._time_out()
        elif self.role is Role.DRIVER and over:
            self.become_alone(f"{self._peers[0]} does not answer")

    def _hand_over(self, successor: str, reason: str) -> None:
        self.become_follower("", reason)
        for peer in self._peers:
            self._send(Kind.RELEASE, peer, successor=successor)
        self._deadline = self.now + self._time_out()

    def _successor(self, reign: Reign) -> str:
        """The first in rank that answers, one that is willing before one that is not; "" if nobody does."""
        present = [peer for peer in self._peers if reign.is_present(peer, self.now)]
        return min(present, key=lambda id: (id in reign.unwilling, self.membership.rank(id)), default="")

    def _relieve(self) -> None:
        if self._reign is None or not self.reluctance or self._wanted is not None:
            return
        successor = self._successor(self._reign)
        if successor and successor not in self._reign.unwilling:
            self._hand_over(successor, self.reluctance)

    # Who is enrolled

    def _refusal(self, wanted: tuple[Voter, ...], now: int) -> str:
        ids, present = {voter.id for voter in wanted}, {voter.id for voter in self.membership.voters}
        reign = self._reign
        if reign is None or not self.drives(now):
            return f"Only the driver changes who is enrolled; that is {self.driver or 'nobody now'}."
        if self._wanted is not None:
            return "Another device is being enrolled or removed; try again in a moment."
        if len(ids ^ present) > 1:
            return "One device is enrolled or removed at a time."
        if self.me not in ids:
            return "The driver cannot remove itself: let another device take the seat first."
        if len(wanted) > 2:
            silent = [id for id in ids & present - {self.me} if not reign.is_present(id, now)]
            if len(ids) - len(silent) < len(ids) // 2 + 1 or (len(present) == 2 and silent):
                return f"Too few devices answer: turn on {', '.join(sorted(silent))}, or remove it first."
        return ""

    def _progress(self) -> None:
        """Take the next step to the wanted membership when a quorum holds the present one."""
        reign, present = self._reign, self.membership
        if reign is None:
            return
        if self._wanted is None and not present.settled(present.voters):
            self._wanted = present.voters
        if self._wanted is None or not reign.installed(present, self.me):
            return
        if present.settled(self._wanted):
            self._wanted = None
            return
        if present.rule is Rule.MAJORITY:
            reign.earned = reign.lease_until(present, self.me)
        self._install(present.step(self._wanted))
        for peer in dict.fromkeys((*present.peers(self.me), *self._peers)):
            self._send(Kind.HEARTBEAT, peer, clock=self.now, enclose=True)
        if not self._peers:
            self.become_alone("no other device is enrolled")
        self._progress()
