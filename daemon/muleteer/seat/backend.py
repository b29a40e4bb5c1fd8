"""What the rest of the daemon asks of the seat, whatever decides it: peers on the network, or etcd.

Knows no protocol. A backend runs until `close`; it tells each change of its role once, in order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from muleteer.seat.claims import Claim, Settled
from muleteer.seat.messages import Role, RoleChange


@dataclass(frozen=True, slots=True)
class PeerView:
    """Another enrolled device: seconds since it was last heard, None if never since the start."""

    id: str
    priority: int
    heard_seconds: float | None


@dataclass(frozen=True, slots=True)
class SeatView:
    """The seat as this device sees it. `driver` is an id, or "" if none is known; `since` in seconds ago."""

    role: Role
    term: int
    driver: str
    since_seconds: float
    reason: str
    peers: tuple[PeerView, ...]


class Backend(Protocol):
    """Who drives, and what was claimed."""

    async def start(self) -> None:
        """Begin to take part; returns when this device has a role. Raises `OSError` with a
        sentence for people when it cannot."""

    async def close(self) -> None:
        """Leave the seat if this device has it, then stop. Idempotent."""

    def view(self) -> SeatView:
        """The seat now."""

    def drives(self) -> bool:
        """Whether this device may run the household's work at this moment; asks the clock. Call it right
        before each deed."""

    def changes(self) -> AsyncIterator[RoleChange]:
        """Every change from now on."""

    async def take(self) -> None:
        """A person wants this device to drive. Raises `ValueError` with a sentence when it cannot."""

    async def give(self, reason: str) -> None:
        """Let another device drive, if one answers. Raises `ValueError` with a sentence when none does."""

    async def set_willing(self, willing: bool) -> None:
        """Whether this device wants to drive: not when it is hot, on battery or busy."""

    async def claim(self, skill: str, slot: str, *, repeatable: bool) -> Settled:
        """Claim one slot of a skill, and be told what to do with it. Whoever is told to run it does so while
        `drives`, then calls `finish`."""

    async def finish(self, claim: Claim, outcome: str) -> None:
        """The claimed run has ended: `outcome` is "done" or "failed"."""
