"""Who is enrolled in a household and how many of them must agree. Pure.

A membership has a stamp (term, version), and the greater stamp is the newer one. A driver makes the next
version only when a quorum holds the present one in the present term; whoever is elected stamps its membership
with the new term; nobody votes for a device whose membership is older than its own. Then two memberships that
could elect are never more than one step apart (Schultz, Dardik, Tripakis: Design and Analysis of a Logless
Dynamic Reconfiguration Protocol, 2021), and `step` keeps to steps whose quorums overlap.

Knows neither time nor messages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

MOST_MEMBERS = 32  # no household has more boards; a driver greets each of them every heartbeat

Stamp = tuple[int, int]  # (term, version)


class Rule(StrEnum):
    """How many must agree. `ONE`: any one of at most two devices. `MAJORITY`: more than half; of two, both,
    which is the state between two devices and three."""

    ONE = "one"
    MAJORITY = "majority"


@dataclass(frozen=True, slots=True, order=True)
class Voter:
    """One enrolled device. The greater `priority` comes first; among equals the smaller id."""

    id: str
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Membership:
    """The enrolled devices, by id."""

    voters: tuple[Voter, ...]
    term: int = 0
    version: int = 1
    rule: Rule = Rule.ONE

    @classmethod
    def alone(cls, voter: Voter) -> Membership:
        """What a device is born with: a household of its own."""
        return cls((voter,))

    @property
    def stamp(self) -> Stamp:
        """What says which of two memberships is newer."""
        return self.term, self.version

    @property
    def ids(self) -> tuple[str, ...]:
        """Every enrolled device."""
        return tuple(voter.id for voter in self.voters)

    @property
    def quorum(self) -> int:
        """How many devices must agree, the one that asks included."""
        return 1 if self.rule is Rule.ONE else len(self.voters) // 2 + 1

    def peers(self, device: str) -> tuple[str, ...]:
        """Every enrolled device but this one."""
        return tuple(id for id in self.ids if id != device)

    def rank(self, device: str) -> int:
        """0 for the device that comes first. Raises `ValueError` for one that is not enrolled."""
        order = sorted(self.voters, key=lambda voter: (-voter.priority, voter.id))
        return [voter.id for voter in order].index(device)

    def with_voter(self, voter: Voter) -> tuple[Voter, ...]:
        """The members and this one, or with its new priority."""
        others = [other for other in self.voters if other.id != voter.id]
        return tuple(sorted([*others, voter]))

    def without(self, device: str) -> tuple[Voter, ...]:
        """The members but this one."""
        return tuple(voter for voter in self.voters if voter.id != device)

    def stamped(self, term: int) -> Membership:
        """The same members in the name of the driver of `term`."""
        return replace(self, term=term)

    def step(self, wanted: tuple[Voter, ...]) -> Membership:
        """The next version on the way to `wanted`, which differs by one device at most. Its quorums overlap
        with this one's, unless one device suffices on both sides: then nobody promised otherwise."""
        changed = replace(self, version=self.version + 1)
        if self.rule is Rule.ONE and len(wanted) > 2:
            return replace(changed, rule=Rule.MAJORITY)
        if self.rule is Rule.MAJORITY and len(self.voters) == 2 and len(wanted) <= 2:
            return replace(changed, rule=Rule.ONE)
        return replace(changed, voters=wanted)

    def settled(self, wanted: tuple[Voter, ...]) -> bool:
        """Whether no step is left."""
        return self.voters == wanted and (self.rule is Rule.MAJORITY) == (len(wanted) > 2)


def quorums_overlap(one: Membership, other: Membership) -> bool:
    """Whether every quorum of the one shares a device with every quorum of the other."""
    union = set(one.ids) | set(other.ids)
    return one.quorum + other.quorum > len(union)
