"""Many simulated runs, spread over the cores: python -m tests.seat.nightly --runs 100000.

Prints how far it is, so that a run which was ended goes on with --first; a seed that fails prints its
transcript, and --replay prints that of any seed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass

from tests.seat.invariants import BrokenError
from tests.seat.runs import play

CHUNK = 250  # seeds: some seconds of one core
TELL_EVERY = 5000  # seeds


@dataclass(frozen=True, slots=True)
class Tally:
    """What a row of seeds came to; `broken` has the seeds that failed, and why."""

    runs: int = 0
    messages: int = 0
    claimed: int = 0
    slowest: float = 0.0
    broken: tuple[tuple[int, str], ...] = ()

    def plus(self, other: Tally) -> Tally:
        return Tally(
            self.runs + other.runs,
            self.messages + other.messages,
            self.claimed + other.claimed,
            max(self.slowest, other.slowest),
            self.broken + other.broken,
        )

    def __str__(self) -> str:
        return (
            f"{self.runs} runs, {self.messages} messages, {self.claimed} pieces of work, "
            f"a driver {self.slowest / 100:.2f} s after the faults at the latest, {len(self.broken)} broken"
        )


def tally(seeds: range) -> Tally:
    """Play each seed."""
    runs, messages, claimed, slowest, broken = 0, 0, 0, 0.0, list[tuple[int, str]]()
    for seed in seeds:
        try:
            result = play(seed)
        except BrokenError as error:
            broken.append((seed, str(error)))
            continue
        runs, messages, claimed = runs + 1, messages + result.messages, claimed + result.runs
        slowest = max(slowest, result.recovery)
    return Tally(runs, messages, claimed, slowest, tuple(broken))


def replay(seed: int) -> str:
    """The transcript of a seed, how it ended, and the command that prints this again."""
    lines: list[str] = []
    try:
        play(seed, trace=lines.append)
        lines.append("nothing is broken")
    except BrokenError as error:
        lines.append(f"BROKEN: {error}")
    return "\n".join([*lines, f"Again: .venv/bin/python -m tests.seat.nightly --replay {seed}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--replay", type=int, metavar="SEED", help="print the transcript of one seed")
    wanted = parser.parse_args()
    if wanted.replay is not None:
        print(replay(wanted.replay))
        return 0
    last = wanted.first + wanted.runs
    chunks = [range(start, min(start + CHUNK, last)) for start in range(wanted.first, last, CHUNK)]
    total, began = Tally(), time.monotonic()
    with multiprocessing.Pool(wanted.workers) as pool:
        for chunk, part in zip(chunks, pool.imap(tally, chunks), strict=True):
            total = total.plus(part)
            for seed, _ in part.broken:
                print(replay(seed), flush=True)
            if chunk.stop % TELL_EVERY == 0 or chunk.stop == last:
                rest = f"go on with --first {chunk.stop} --runs {last - chunk.stop}"
                print(f"{time.monotonic() - began:6.0f} s: {total}; {rest}", flush=True)
    return 1 if total.broken else 0


if __name__ == "__main__":
    sys.exit(main())
