"""A device that enters a household: in which term it goes on."""

from __future__ import annotations

import pytest

from muleteer.seat.election import Election
from muleteer.seat.membership import Membership, Voter
from muleteer.seat.messages import Durable

A, B = Voter("a"), Voter("b")


@pytest.mark.parametrize(
    ("before", "vote", "goes_on"),
    [
        ((A, B), "b", 4),  # cut off from a it has driven alone, and a was in that term, too
        ((A, B), "a", 3),
        ((B,), "b", 3),  # a household of its own: what was driven there is nobody's else
    ],
)
def test_who_has_driven_apart_from_a_household_enters_it_beyond_that_term(
    before: tuple[Voter, ...], vote: str, goes_on: int
) -> None:
    device = Election("b", Durable(Membership(before, 2, 1), 3, vote), seed=0)
    output = device.adopt(Membership((A, B), 3, 3), 0)
    assert device.term == goes_on
    assert output.durable is None or output.durable.term == goes_on
