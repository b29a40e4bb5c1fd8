"""The forest against a naive model: lists of unique cells, compared token by token."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from muleteer.engine.prefixes import Forest, common_prefix

SEQUENCES, CELLS = 6, 64
tokens = st.lists(st.integers(0, 2), max_size=8)


class AgainstNaive(RuleBasedStateMachine):
    """Every sequence is a list of (token, unique object); forks share the objects."""

    alive = Bundle("alive")

    def __init__(self) -> None:
        super().__init__()
        self.forest = Forest(SEQUENCES, CELLS)
        self.naive: dict[int, list[tuple[int, object]]] = {}
        self.pins: set[int] = set()

    @precondition(lambda self: self.forest.has_free_sequence)
    @rule(target=alive, new=tokens)
    def add(self, new: list[int]) -> int:
        sequence = self.forest.fork(None, 0)
        self.forest.extend(sequence, new)
        self.naive[sequence] = [(token, object()) for token in new]
        return sequence

    @precondition(lambda self: self.forest.has_free_sequence)
    @rule(target=alive, source=alive, share=st.floats(0, 1), new=tokens)
    def fork(self, source: int, share: float, new: list[int]) -> int:
        length = int(share * len(self.naive[source]))
        sequence = self.forest.fork(source, length)
        assert sequence not in self.naive
        self.forest.extend(sequence, new)
        self.naive[sequence] = self.naive[source][:length] + [(token, object()) for token in new]
        return sequence

    @rule(sequence=consumes(alive))
    def drop(self, sequence: int) -> None:
        self.forest.drop(sequence)
        del self.naive[sequence]
        self.pins.discard(sequence)

    @rule(sequence=alive, share=st.floats(0, 1))
    def cut(self, sequence: int, share: float) -> None:
        length = int(share * len(self.naive[sequence]))
        self.forest.cut(sequence, length)
        del self.naive[sequence][length:]

    @rule(sequence=alive, new=tokens)
    def extend(self, sequence: int, new: list[int]) -> None:
        self.forest.extend(sequence, new)
        self.naive[sequence] += [(token, object()) for token in new]

    @rule(sequence=alive)
    def pin(self, sequence: int) -> None:
        self.forest.pin(sequence)
        held = [self.forest.pinned_as([t for t, _ in cells]) for cells in self.naive.values()]
        pinned = {pin for pin in held if pin is not None}
        cells = {id(cell) for pin in pinned for _, cell in self.naive[pin]}
        assert len(pinned) <= SEQUENCES // 2
        assert len(cells) <= CELLS // 2

    @rule(prompt=tokens, limit=st.integers(0, 8))
    def match(self, prompt: list[int], limit: int) -> None:
        lengths = {
            sequence: min(_shared([token for token, _ in cells], prompt), limit)
            for sequence, cells in self.naive.items()
        }
        sequence, length = self.forest.match(prompt, limit)
        assert length == max(lengths.values(), default=0)
        assert (sequence is None) == (length == 0)
        if sequence is not None:
            assert lengths[sequence] == length

    @rule(sequence=alive)
    def others(self, sequence: int) -> None:
        mine = [token for token, _ in self.naive[sequence]]
        rest = [[t for t, _ in cells] for other, cells in self.naive.items() if other != sequence]
        assert self.forest.others_hold(sequence) == max((_shared(each, mine) for each in rest), default=0)

    @invariant()
    def counts_unique_cells(self) -> None:
        cells = {id(cell) for cells in self.naive.values() for _, cell in cells}
        assert self.forest.used == len(cells)
        assert self.forest.room == CELLS - len(cells)

    @invariant()
    def knows_lengths(self) -> None:
        assert set(self.forest.sequences()) == set(self.naive)
        for sequence, cells in self.naive.items():
            assert self.forest.length(sequence) == len(cells)


def _shared(a: list[int], b: list[int]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


TestAgainstNaive = AgainstNaive.TestCase
TestAgainstNaive.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def forest_of(*held: list[int], partial: bool = True) -> tuple[Forest, list[int]]:
    forest = Forest(SEQUENCES, CELLS, partial)
    sequences = []
    for some in held:
        sequences.append(forest.fork(None, 0))
        forest.extend(sequences[-1], some)
    return forest, sequences


def test_the_middle_of_a_longer_sequence_matches() -> None:
    forest, (long, _) = forest_of([1, 2, 3, 4], [1, 9])
    assert forest.match([1, 2, 3, 7, 7], 4) == (long, 3)


def test_recurrent_models_match_whole_sequences_only() -> None:
    forest, (_, short) = forest_of([1, 2, 3, 4], [1, 2], partial=False)
    assert forest.match([1, 2, 3, 7], 3) == (short, 2)
    assert forest.match([1, 2], 1) == (None, 0)


def test_a_fork_costs_nothing_and_outlives_its_source() -> None:
    forest, (source,) = forest_of([1, 2, 3])
    fork = forest.fork(source, 2)
    assert forest.used == 3
    forest.drop(source)
    assert forest.used == 2
    assert forest.match([1, 2, 3], 3) == (fork, 2)


def test_a_cut_frees_only_what_no_fork_holds() -> None:
    forest, (source,) = forest_of([1, 2, 3, 4])
    fork = forest.fork(source, 3)
    forest.cut(source, 1)
    assert (forest.length(source), forest.length(fork), forest.used) == (1, 3, 3)
    assert forest.match([1, 2, 3, 4], 4) == (fork, 3)


def test_victims_are_the_least_recently_used_and_pins_come_last() -> None:
    forest, (a, b, c) = forest_of([1], [2], [3])
    forest.pin(a)
    forest.touch(b)
    assert forest.victim() == c
    forest.drop(c)
    assert forest.victim() == b
    forest.hold(b)
    assert forest.victim() == a
    forest.hold(a)
    assert forest.victim() is None
    forest.release()
    assert forest.victim() == b


def test_the_pin_used_longest_ago_gives_way() -> None:
    forest, sequences = forest_of([1], [2], [3], [4])
    for sequence in sequences[:3]:
        forest.pin(sequence)
    forest.touch(sequences[0])
    forest.pin(sequences[3])
    assert [forest.pinned_as([token]) is not None for token in (1, 2, 3, 4)] == [True, False, True, True]


def test_a_pin_larger_than_its_share_is_not_pinned() -> None:
    forest, (big, small) = forest_of(list(range(CELLS // 2 + 1)), [1])
    forest.pin(small)
    forest.pin(big)
    assert forest.pinned_as(list(range(CELLS // 2 + 1))) is None


def test_a_pin_that_may_not_displace_another_is_an_ordinary_sequence() -> None:
    forest, sequences = forest_of([1], [2], [3], [4])
    for sequence in sequences:
        forest.pin(sequence, displace=False)
    assert [forest.pinned_as([token]) is not None for token in (1, 2, 3, 4)] == [True, True, True, False]
    assert [forest.is_constant(sequence) for sequence in sequences] == [True] * 4


def test_a_constant_sequence_that_grows_or_is_cut_is_none_any_more() -> None:
    forest, (a, b) = forest_of([1], [2, 3])
    for sequence in (a, b):
        forest.pin(sequence)
    forest.extend(a, [5])
    forest.cut(b, 1)
    assert not forest.is_constant(a)
    assert not forest.is_constant(b)


def test_without_partial_reuse_only_whole_sequences_stand_in_for_another() -> None:
    forest, (long, _) = forest_of([1, 2, 3, 4], [1, 2, 3, 9], partial=False)
    assert forest.others_hold(long) == 0
    forest.extend(forest.fork(None, 0), [1, 2])
    assert forest.others_hold(long) == 2


def test_only_an_unpinned_sequence_is_continued_in_place() -> None:
    forest, (sequence,) = forest_of([1, 2])
    assert forest.may_continue(sequence, 2)
    assert not forest.may_continue(sequence, 1)
    forest.pin(sequence)
    assert not forest.may_continue(sequence, 2)


@pytest.mark.parametrize(("a", "b", "length"), [([], [1], 0), ([1, 2], [1, 2], 2), ([1, 2, 3], [1, 5, 3], 1)])
def test_common_prefix(a: list[int], b: list[int], length: int) -> None:
    assert common_prefix(a, b) == length
