"""The order in which requests wait. Pure: knows nothing of time, of the engine or of what is asked.

Direct requests go before background ones. Among each, those of the older lane go first, since a turn that
is half done should end before another begins; within a lane they go in the order they came. A lane that was
just served may be expected to ask again: nobody behind it is taken while it is.
"""

from __future__ import annotations

from bisect import insort
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Place(NamedTuple):
    """Where a request belongs: the smaller goes first. `number` is unique."""

    background: bool
    lane: int
    number: int


class Queue(Generic[T]):
    """What waits, in order."""

    def __init__(self) -> None:
        self._entries: list[tuple[Place, T]] = []
        self.expected: Place | None = None
        """Whoever waits behind this place's lane goes on waiting."""

    def __len__(self) -> int:
        return len(self._entries)

    def count(self, background: bool) -> int:
        """How many wait that a new request of this kind may have to wait for: a direct one only for direct
        ones, a background one for all."""
        return sum(background or not place.background for place, _ in self._entries)

    def add(self, place: Place, item: T) -> None:
        """Let `item` wait, or wait again, at its place."""
        insort(self._entries, (place, item), key=itemgetter(0))

    def take(self, background: bool) -> T | None:
        """The one whose turn it is, which waits no longer; without `background`, only a direct one. Whatever
        was expected is so no longer."""
        if not self._entries:
            return None
        first = self._entries[0][0]
        if (first.background and not background) or (self.expected and first[:2] > self.expected[:2]):
            return None
        self.expected = None
        return self._entries.pop(0)[1]

    def remove(self, place: Place) -> bool:
        """Whether somebody waited at `place`, who now does not."""
        before = len(self._entries)
        self._entries = [entry for entry in self._entries if entry[0] != place]
        return len(self._entries) < before

    def clear(self) -> list[T]:
        """All who waited, in order."""
        items = [item for _, item in self._entries]
        self._entries.clear()
        return items
