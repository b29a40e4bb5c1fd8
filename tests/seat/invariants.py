"""What no failure may break, checked at every step of a simulated household.

Knows who drives and what runs; not what went wrong before.
"""

from __future__ import annotations

from muleteer.seat.claims import Claim
from muleteer.seat.membership import Rule
from tests.seat.host import Host


class BrokenError(AssertionError):
    """An invariant does not hold."""


class Invariants:
    """Of these hosts. `small`: one device may once have been a quorum; `forgetful`: disks may go back in
    time. Less is promised then."""

    def __init__(self, hosts: dict[str, Host], small: bool) -> None:
        self._hosts = hosts
        self.small, self.forgetful = small, False
        self.drivers: dict[int, dict[str, tuple[str, ...]]] = {}  # of a term: who, elected by whom
        self.starts: dict[tuple[str, str], list[tuple[Claim, str]]] = {}

    def enters(self, host: Host, term: int) -> None:
        """Nobody else of its household has driven in that term."""
        if host.election is None:
            return
        ids = host.election.membership.ids
        for before, members in self.drivers.setdefault(term, {}).items():
            if before != host.id and not self.forgetful and host.id in members and before in ids:
                raise BrokenError(f"{before} and {host.id} both drove in term {term}")
        self.drivers[term].setdefault(host.id, ids)

    def acts(self, host: Host, now: float) -> None:
        """Nobody else drives while this host does, where a majority is required."""
        election = host.election
        if election is None or not host.drives(now):
            return
        for other in self._hosts.values():
            theirs = other.election
            if other is host or theirs is None or not other.drives(now):
                continue
            apart = other.id not in election.membership.ids or host.id not in theirs.membership.ids
            if apart or election.membership.rule is Rule.ONE is theirs.membership.rule:
                continue
            raise BrokenError(
                f"{host.id} (term {election.term}) and {other.id} (term {theirs.term}) drive at one instant"
            )

    def runs(self, host: Host, claim: Claim, now: float) -> None:
        """The slot has not run, or may run again, and does not run elsewhere."""
        before = self.starts.setdefault(claim.key, [])
        if not self.small and not self.forgetful:
            if before and not claim.repeatable:
                raise BrokenError(f"{claim.slot} ran on {before[-1][1]} and again on {host.id}")
            for other in self._hosts.values():
                if claim.key in other.running and other.may_go_on(other.running[claim.key], now):
                    raise BrokenError(f"{claim.slot} runs on {other.id} and on {host.id} at once")
            if any(earlier.identity >= claim.identity for earlier, _ in before):
                raise BrokenError(f"{claim.slot} ran again on {host.id} without a new attempt")
        before.append((claim, host.id))
