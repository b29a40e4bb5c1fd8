"""A device that enters a household: in which term it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.seat.election import Election
from muleteer.seat.membership import Membership, Voter
from muleteer.seat.messages import Durable
from tests.seat.neighbours import neighbours, pair, together, until

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


@pytest.mark.parametrize("enough", [False, True])
async def test_a_newcomer_with_a_later_term_ends_no_run_that_is_going_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, enough: bool
) -> None:
    caplog.set_level("DEBUG", "muleteer.seat.enrolment")
    async with neighbours(tmp_path, 2) as [first, second]:
        for _ in range(3):  # starts of a device that is alone, each a term
            await second.start_again()
            await until(second.drives)
        await until(first.drives)
        before = first.seat.machine.election.term
        assert second.seat.machine.election.term > before
        granted = (await first.seat.slots.claim("daily-brief", "07:00")).claim
        assert granted
        await pair(first, second)
        await until(lambda: "A background turn is running" in caplog.text)
        assert await first.seat.slots.may_finish(granted)
        if enough:  # a run that never ends keeps nobody out
            monkeypatch.setattr("muleteer.seat.work.RUN_SECONDS", 0.0)
        else:
            await first.seat.slots.settle(granted, "It will rain.")
        await until(lambda: together([first, second]))
        assert first.seat.machine.election.term > before
        texts = [entry.text for entry in await second.seat.results.entries()]
        assert enough or texts == ["It will rain."]
