"""The household under every kind of fault; nightly.py plays many more seeds, and replays one that fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from muleteer.seat.claiming import Claiming
from muleteer.seat.election import Election
from tests.seat import mutants
from tests.seat.invariants import BrokenError
from tests.seat.nightly import replay, tally
from tests.seat.plots import PLOTS
from tests.seat.replaying import answered
from tests.seat.runs import BOUND, play
from tests.seat.test_transcripts import FOLDER

RUNS = 2000
MOST_SEEDS = 500  # to find a broken machine; most are found within a hundred


def test_no_fault_breaks_an_invariant() -> None:
    result = tally(range(RUNS))
    assert not result.broken, replay(result.broken[0][0])
    assert result.runs == RUNS
    assert result.slowest < BOUND
    assert result.claimed > RUNS  # work was done at all


def test_the_same_seed_is_the_same_run() -> None:
    assert replay(57) == replay(57)
    assert replay(57).endswith("--replay 57")


def _breaks(broken: Callable[[int], object], seeds: int) -> bool:
    for seed in range(seeds):
        try:
            broken(seed)
        except BrokenError:
            return True
    return False


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.__name__)
def test_no_plot_breaks_an_invariant(plot: Callable[[int, type[Election]], None]) -> None:
    for seed in range(10):
        plot(seed, Election)


@pytest.mark.parametrize("machine", mutants.ELECTIONS, ids=lambda machine: machine.__name__)
def test_a_broken_election_is_found(machine: type[Election]) -> None:
    """By a plot or by random faults."""
    for plot in PLOTS:
        if _breaks(partial(plot, machine=machine), 10):
            return
    assert _breaks(partial(play, machine=machine), MOST_SEEDS)


def test_a_second_vote_is_found_by_a_transcript_too() -> None:
    transcript = (FOLDER / "one-vote-a-term.txt").read_text()
    assert answered(transcript, mutants.VotesTwice) != transcript


@pytest.mark.parametrize("claims", mutants.CLAIMINGS, ids=lambda claims: claims.__name__)
def test_broken_claims_are_found(claims: type[Claiming]) -> None:
    assert _breaks(lambda seed: play(seed, claims=claims), MOST_SEEDS)
