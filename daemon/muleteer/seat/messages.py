"""What devices say to each other about the seat, and what a device must not forget. Pure data.

Knows nothing of bytes or keys: whoever carries a message vouches for `source`, and drops what was said
before.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from muleteer.seat.membership import Membership, Stamp


class Role(StrEnum):
    """What a device is to its household; the words people read."""

    ALONE = "alone"
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    DRIVER = "driver"
    NO_MAJORITY = "no majority"


class Kind(StrEnum):
    """`PRE_VOTE`: would you vote for me? `RELEASE`: I no longer drive. `ASK`: hand me the seat."""

    PRE_VOTE = "pre-vote"
    PRE_VOTE_REPLY = "pre-vote-reply"
    VOTE = "vote"
    VOTE_REPLY = "vote-reply"
    HEARTBEAT = "heartbeat"
    HEARTBEAT_REPLY = "heartbeat-reply"
    RELEASE = "release"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `term` is the sender's; of a pre-vote and its granting reply, the term asked for.

    `clock` is the asker's own count of ticks, echoed in the reply. `released` is the last term whose driver
    is known to have stopped. `boot` is drawn anew at each start. `membership` is there when the other's is
    older.
    """

    kind: Kind
    source: str
    target: str
    term: int
    stamp: Stamp
    clock: int = 0
    granted: bool = False
    released: int = 0
    successor: str = ""
    willing: bool = True
    boot: int = 0
    membership: Membership | None = None

    @property
    def is_beat(self) -> bool:
        """Whether it is short, frequent, and repeated when it is not answered."""
        return self.kind in (Kind.HEARTBEAT, Kind.HEARTBEAT_REPLY) and self.membership is None


@dataclass(frozen=True, slots=True)
class Durable:
    """What must survive a crash. `vote` is the device voted for in `term`, or ""."""

    membership: Membership
    term: int = 0
    vote: str = ""


@dataclass(frozen=True, slots=True)
class RoleChange:
    """Told once for each change of the role, or of the driver that is followed. `driver` is "" if unknown."""

    role: Role
    term: int
    driver: str
    reason: str

    def line(self) -> str:
        """One line for the log."""
        return f"Seat: {self.role} in term {self.term}: {self.reason}."


@dataclass(frozen=True, slots=True)
class Output:
    """What to do, in this order: make `durable` durable and call `Election.saved`; send; tell."""

    durable: Durable | None = None
    messages: tuple[Message, ...] = ()
    changes: tuple[RoleChange, ...] = ()
    warnings: tuple[str, ...] = ()
