"""Which resident sequence holds which tokens.

Pure bookkeeping: longest shared prefix, forks that share cells, pins, least-recently-used victims, and a
count of the cells in use that is exact because every cell has an identity. Knows nothing of llama.cpp; the
cache keeps the native side in step.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Resident:
    """Tokens of one sequence, and the cell that holds each. Forks hold the same cells."""

    tokens: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    pinned: bool = False
    held: bool = False
    constant: bool = False  # was pinned, and has not changed since


class Forest:
    """At most `sequences` resident sequences in `capacity` cells.

    With `partial` False (recurrent models) a sequence can only be continued from its very end. Pins hold at
    most half the sequences and half the cells, so that there is always room to work; beyond that the pin
    used longest ago becomes an ordinary sequence.
    """

    def __init__(self, sequences: int, capacity: int, partial: bool = True) -> None:
        self._free = list(range(sequences - 1, -1, -1))
        self._residents: dict[int, Resident] = {}  # least recently used first
        self._references: Counter[int] = Counter()
        self._identities = itertools.count()
        self._capacity, self._partial = capacity, partial
        self._max_pins, self._max_pinned_cells = sequences // 2, capacity // 2

    @property
    def capacity(self) -> int:
        """Cells in all."""
        return self._capacity

    @property
    def used(self) -> int:
        """Cells in use; a cell that several sequences share counts once."""
        return len(self._references)

    @property
    def room(self) -> int:
        return self._capacity - self.used

    @property
    def has_free_sequence(self) -> bool:
        return bool(self._free)

    def sequences(self) -> list[int]:
        """All resident sequences, the least recently used first."""
        return list(self._residents)

    def knows(self, sequence: int) -> bool:
        return sequence in self._residents

    def length(self, sequence: int) -> int:
        return len(self._residents[sequence].tokens)

    def match(self, tokens: Sequence[int], limit: int) -> tuple[int | None, int]:
        """The sequence that shares the longest prefix with `tokens`, and how many tokens of it can be reused
        (at most `limit`). Among equals the one used last."""
        wanted = list(tokens)
        best: tuple[int | None, int] = None, 0
        for sequence, resident in reversed(self._residents.items()):
            shared = min(common_prefix(resident.tokens, wanted), limit)
            if shared < len(resident.tokens) and not self._partial:
                continue
            if shared > best[1]:
                best = sequence, shared
        return best

    def pinned_as(self, tokens: Sequence[int]) -> int | None:
        """The pinned sequence that holds exactly these tokens."""
        wanted = list(tokens)
        return next((s for s, r in self._residents.items() if r.pinned and r.tokens == wanted), None)

    def fork(self, source: int | None, length: int) -> int:
        """A new sequence that shares the first `length` cells of `source` (or is empty). Needs a free
        sequence."""
        sequence = self._free.pop()
        fork = self._residents[sequence] = Resident()
        if source is not None:
            origin = self._residents[source]
            fork.tokens, fork.cells = origin.tokens[:length], origin.cells[:length]
            self._references.update(fork.cells)
            self.touch(source)
            self.touch(sequence)
        return sequence

    def extend(self, sequence: int, tokens: Sequence[int]) -> None:
        """Tokens were decoded at the end of a sequence."""
        resident = self._residents[sequence]
        resident.constant = False
        cells = list(itertools.islice(self._identities, len(tokens)))
        resident.tokens += tokens
        resident.cells += cells
        self._references.update(cells)
        self.touch(sequence)

    def drop(self, sequence: int) -> None:
        """Forget a sequence; its cells are free once no fork holds them."""
        self._let_go(self._residents.pop(sequence).cells)
        self._free.append(sequence)

    def cut(self, sequence: int, length: int) -> None:
        """Forget the tokens of a sequence after the first `length`. Needs a model with partial reuse."""
        resident = self._residents[sequence]
        resident.constant = False
        self._let_go(resident.cells[length:])
        del resident.tokens[length:], resident.cells[length:]

    def _let_go(self, cells: Sequence[int]) -> None:
        for cell in cells:
            self._references[cell] -= 1
            if not self._references[cell]:
                del self._references[cell]

    def touch(self, sequence: int) -> None:
        """This sequence was used now."""
        self._residents[sequence] = self._residents.pop(sequence)

    def hold(self, sequence: int) -> None:
        """The request being served needs this sequence: it is never a victim until `release`."""
        self._residents[sequence].held = True

    def release(self) -> None:
        """The request is over."""
        for resident in self._residents.values():
            resident.held = False

    def pin(self, sequence: int, displace: bool = True) -> None:
        """Keep a sequence until the pins outgrow their share. Without `displace` it is the one that is not
        kept then."""
        resident = self._residents[sequence]
        resident.pinned = resident.constant = True
        pins = [s for s, r in self._residents.items() if r.pinned and s != sequence] if displace else []
        while self._pins_outgrow():
            self._residents[pins.pop(0) if pins else sequence].pinned = False

    def is_constant(self, sequence: int) -> bool:
        """Whether a sequence was pinned with just the tokens it has."""
        return self._residents[sequence].constant

    def tokens(self, sequence: int) -> list[int]:
        """A copy of a sequence's tokens."""
        return list(self._residents[sequence].tokens)

    def others_hold(self, sequence: int) -> int:
        """How many leading tokens of a sequence would still be resident without it."""
        tokens = self._residents[sequence].tokens
        others = (r.tokens for s, r in self._residents.items() if s != sequence)
        shared = ((common_prefix(other, tokens), len(other)) for other in others)
        return max((n for n, whole in shared if self._partial or n == whole), default=0)

    def _pins_outgrow(self) -> bool:
        pinned = [resident for resident in self._residents.values() if resident.pinned]
        cells = {cell for resident in pinned for cell in resident.cells}
        return len(pinned) > self._max_pins or len(cells) > self._max_pinned_cells

    def may_continue(self, sequence: int, length: int) -> bool:
        """Whether a prompt that shares `length` tokens may be decoded into this very sequence."""
        resident = self._residents[sequence]
        return not resident.pinned and len(resident.tokens) == length

    def victim(self, spare: int | None = None) -> int | None:
        """The sequence to give up next: the least recently used one, pinned ones last, held ones and `spare`
        never."""
        idle = [
            (resident.pinned, age, sequence)
            for age, (sequence, resident) in enumerate(self._residents.items())
            if not resident.held and sequence != spare
        ]
        return min(idle)[2] if idle else None


def common_prefix(a: list[int], b: list[int]) -> int:
    """How many leading items are equal. Compares slices, so that the loop runs in C."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
