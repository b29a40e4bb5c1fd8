"""A tier against a plain list of what was put into it."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from muleteer.engine.parking import Parked, Tier

LIMIT = 100
tokens = st.lists(st.integers(0, 2), min_size=1, max_size=6)


class AgainstNaive(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.tier = Tier(LIMIT)
        self.naive: list[Parked] = []  # least recently used first

    @rule(tokens=tokens, size=st.integers(1, LIMIT), constant=st.booleans())
    def put(self, tokens: list[int], size: int, constant: bool) -> None:
        parked = Parked(repr(tokens), tuple(tokens), size, constant)
        self.naive = [each for each in self.naive if each.key != parked.key] + [parked]
        gone = []
        while sum(each.size for each in self.naive) > LIMIT:
            spared = sum(each.size for each in self.naive if each.constant) <= LIMIT // 2
            victim = next(each for each in self.naive if not (spared and each.constant))
            self.naive.remove(victim)
            gone.append(victim)
        assert self.tier.put(parked) == gone

    @rule(tokens=tokens)
    def touch(self, tokens: list[int]) -> None:
        self.tier.touch(repr(tokens))
        self.naive.sort(key=lambda each: each.key == repr(tokens))

    @rule(tokens=tokens)
    def drop(self, tokens: list[int]) -> None:
        self.tier.drop(repr(tokens))
        self.naive = [each for each in self.naive if each.key != repr(tokens)]

    @rule(tokens=tokens, limit=st.integers(0, 6), partial=st.booleans(), longest=st.integers(0, 6))
    def match(self, tokens: list[int], limit: int, partial: bool, longest: int) -> None:
        found, length = self.tier.match(tokens, limit, partial, longest)
        lengths = [
            _reusable(each.tokens, tokens[:limit], partial)
            for each in self.naive
            if len(each.tokens) <= longest
        ]
        assert length == max(lengths, default=0)
        assert (found is None) == (length == 0)
        if found:
            assert len(found.tokens) <= longest
            assert _reusable(found.tokens, tokens[:limit], partial) == length

    @invariant()
    def the_same_is_there(self) -> None:
        assert list(self.tier) == self.naive
        assert len(self.tier) == len(self.naive)
        assert self.tier.used == sum(each.size for each in self.naive) <= LIMIT
        assert all(each.key in self.tier for each in self.naive)


def _reusable(parked: tuple[int, ...], wanted: list[int], partial: bool) -> int:
    shared = 0
    while shared < min(len(parked), len(wanted)) and parked[shared] == wanted[shared]:
        shared += 1
    return shared if partial or shared == len(parked) else 0


TestAgainstNaive = AgainstNaive.TestCase
TestAgainstNaive.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_what_is_larger_than_the_tier_does_not_fit() -> None:
    assert Tier(10).fits(10)
    assert not Tier(10).fits(11)
    assert not Tier(0).fits(1)


def test_any_number_of_strangers_prompts_leaves_the_constant_ones() -> None:
    tier = Tier(LIMIT)
    own = [Parked(f"own {number}", (number,), LIMIT // 8, True) for number in range(4)]
    for each in own:
        tier.put(each)
    for number in range(300):
        tier.put(Parked(f"theirs {number}", (number, number), LIMIT // 5, False))
        assert tier.used <= LIMIT
    assert [each for each in tier if each.constant] == own
    assert len(tier) == len(own) + 2
    large = Parked("large", (1, 1), LIMIT * 3 // 5, False)
    assert large in tier.put(large), "it goes itself"
    assert [each for each in tier if each.constant] == own


def test_constant_prompts_beyond_half_the_room_make_place_as_everything_does() -> None:
    tier = Tier(LIMIT)
    own = [Parked(f"own {number}", (number,), LIMIT // 4, True) for number in range(4)]
    for each in own:
        tier.put(each)
    talk = Parked("talk", (9,), LIMIT // 4, False)
    assert tier.put(talk) == own[:1]
