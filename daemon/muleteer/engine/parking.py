"""Prefixes that are not in the context but can be brought back: one tier, bounded in bytes.

Pure bookkeeping, for memory and disk alike: which tokens are parked under which key, how large they are, and
which go when there are too many (the one used longest ago). Does not know what a state is or where it lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from muleteer.engine.prefixes import common_prefix


@dataclass(frozen=True, slots=True)
class Parked:
    """One prefix outside the context. `size` in bytes. `constant`: part of a prompt that never changes, and
    so worth a place on disk."""

    key: str
    tokens: tuple[int, ...]
    size: int
    constant: bool


class Tier:
    """At most `limit` bytes of parked prefixes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parked: dict[str, Parked] = {}  # least recently used first
        self.used = 0

    def __iter__(self) -> Iterator[Parked]:
        return iter(self._parked.values())

    def __len__(self) -> int:
        return len(self._parked)

    def __contains__(self, key: str) -> bool:
        return key in self._parked

    def fits(self, size: int) -> bool:
        """Whether so many bytes could be parked here at all."""
        return size <= self._limit

    def match(
        self, tokens: Sequence[int], limit: int, partial: bool, longest: int
    ) -> tuple[Parked | None, int]:
        """The prefix of at most `longest` tokens that shares most with `tokens`, and how many of its tokens
        can be reused (at most `limit`); without `partial`, only a prefix that can be reused whole."""
        wanted = list(tokens[:limit])
        best: tuple[Parked | None, int] = None, 0
        for parked in reversed(self._parked.values()):
            if not parked.tokens or not wanted or parked.tokens[0] != wanted[0]:
                continue
            if len(parked.tokens) > longest:
                continue
            shared = common_prefix(list(parked.tokens[:limit]), wanted)
            if shared > best[1] and (partial or shared == len(parked.tokens)):
                best = parked, shared
        return best

    def put(self, parked: Parked) -> list[Parked]:
        """Park a prefix as the one used last; what must go for it, perhaps itself. Needs `fits`."""
        self.drop(parked.key)
        self._parked[parked.key] = parked
        self.used += parked.size
        gone: list[Parked] = []
        while self.used > self._limit:
            gone.append(victim := self._victim())
            self.drop(victim.key)
        return gone

    def _victim(self) -> Parked:
        """The one used longest ago. What is not constant goes first, since strangers may send any number of
        it; unless the constant ones have more than half the room."""
        constant = sum(each.size for each in self if each.constant)
        spared = constant <= self._limit // 2
        return next(each for each in self if not (spared and each.constant))

    def touch(self, key: str) -> None:
        """This prefix was used now."""
        if key in self._parked:
            self._parked[key] = self._parked.pop(key)

    def drop(self, key: str) -> None:
        """Forget a prefix, if it is known."""
        if parked := self._parked.pop(key, None):
            self.used -= parked.size
