"""Run a battery: every case by every side, in turn, written down one by one.

Deterministic: cases in their order, greedy decoding, and which side goes first alternates from case to case,
so that neither always finds what the other has left. Knows how attempts are timed and resumed; not what is
asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from muleteer import __version__
from muleteer.engine.client import Engine
from muleteer.engine.protocol import LoadSettings, Properties
from muleteer.errors import EngineError, MuleteerError
from muleteer.evaluate import machine
from muleteer.evaluate.batteries.battery import Answered, Battery, Case, Cases, Tried, tried
from muleteer.evaluate.batteries.journal import Journal, file_digest, program_digest
from muleteer.evaluate.rig import opened

Say = Callable[[str], None]
Attempt = Callable[[Case, str], Awaitable[Tried]]

SAY_S = 5.0
"""Seconds between two lines of progress."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How much of the machine a run takes: so many `threads` (0: one a core), and at most about so many
    `minutes` of attempts; what is left then is for the next run."""

    threads: int = 0
    minutes: float = math.inf


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run ran on: everything a report must say."""

    command: str
    model: Properties
    model_digest: str
    machine: dict[str, object]
    versions: dict[str, str]
    journal: Path

    def as_dict(self) -> dict[str, object]:
        return {
            "command": self.command,
            "machine": self.machine,
            "versions": self.versions,
            "model": {
                "name": self.model.name,
                "file": Path(self.model.path).name,
                "sha256": self.model_digest,
                "threads": self.model.threads,
                "context": self.model.context,
            },
        }


async def run(
    battery: Battery,
    model: Path,
    folder: Path,
    command: str,
    say: Say,
    begun: Callable[[Conditions], None],
    manner: Manner = Manner(),
) -> tuple[Conditions, list[Tried]]:
    """Every case by every side: what `folder` has of it already, and the rest by an engine that is loaded for
    it. `begun` is told the conditions before the first case. Fewer attempts than the battery has come back
    when the time was over before."""
    say(f"loading {model.name}")
    journal, digest = journal_of(battery, model, folder)
    async with opened(model, LoadSettings(context=battery.context, threads=manner.threads)) as engine:
        conditions = conditions_of(command, await engine.ready(0), digest, journal)
        begun(conditions)

        async def one(case: Case, side: str) -> Tried:
            return await attempt(battery, engine, case, side)

        await go_on(battery, one, journal, say, manner.minutes)
    return conditions, tried_of(battery, journal)


def journal_of(battery: Cases, model: Path, folder: Path) -> tuple[Journal, str]:
    """The journal of this battery on this model, and the model's digest."""
    digest = file_digest(model)
    keys: dict[str, object] = {
        "battery": battery.name,
        "cases": battery.digest,
        "model": digest,
        "muleteer": __version__,
        "program": program_digest(),
        "context": battery.context,
        "versions": machine.versions(),
    }
    return Journal(folder, f"{battery.name}-{model.stem}", keys), digest


def conditions_of(command: str, model: Properties, digest: str, journal: Journal) -> Conditions:
    """With the machine and the versions as they are now."""
    return Conditions(command, model, digest, machine.describe(), machine.versions(), journal.file)


def tried_of(battery: Cases, journal: Journal) -> list[Tried]:
    """What there is of a battery, in its order."""
    known = journal.known
    return [known[case.id, side] for case, side in order(battery) if (case.id, side) in known]


async def go_on(battery: Cases, attempt: Attempt, journal: Journal, say: Say, minutes: float) -> None:
    """Every attempt that the journal does not have yet, as long as there is time."""
    left = [(case, side) for case, side in order(battery) if (case.id, side) not in journal.known]
    total = len(battery.cases) * len(battery.sides)
    if not left:
        return
    say(f"{battery.name}: {total - len(left)} of {total} attempts are in {journal.file}")
    progress = _Progress(battery.name, total, len(left), say)
    until = time.monotonic() + 60 * minutes
    for case, side in left:
        if time.monotonic() > until:
            say(f"{battery.name}: {minutes:g} minutes are over; the same command goes on from here")
            return
        one = await attempt(case, side)
        journal.add(one)
        progress.step(one)


async def attempt(battery: Battery, engine: Engine, case: Case, side: str) -> Tried:
    """One case by one side, timed after what it may find warm. What a side cannot do is a wrong answer with
    its reason; an engine that is gone ends the run."""
    try:
        await battery.warm(engine, case, side)
        began = time.perf_counter()
        answered, levels = await battery.answer(engine, case, side)
    except EngineError:
        raise
    except MuleteerError as error:
        return tried(case, side, Answered(False, "", str(error)), (), 0.0)
    return tried(case, side, answered, levels, time.perf_counter() - began)


def order(battery: Cases) -> list[tuple[Case, str]]:
    """Every attempt of a battery, in the order in which they are made."""
    if battery.together:
        return [(case, side) for side in battery.sides for case in battery.cases]
    return [(case, side) for i, case in enumerate(battery.cases) for side in _turned(battery.sides, i)]


def _turned(sides: Sequence[str], number: int) -> Sequence[str]:
    """The sides of case `number`: the other way round for every second one."""
    return sides if number % 2 == 0 else tuple(reversed(sides))


class _Progress:
    """A line every few seconds: how far, how good so far, and how long it still takes."""

    def __init__(self, name: str, total: int, left: int, say: Say) -> None:
        self._name, self._total, self._left, self._say = name, total, left, say
        self._begun = self._said = time.monotonic()
        self._done = 0
        self._right: dict[str, list[bool]] = {}

    def step(self, one: Tried) -> None:
        self._done += 1
        self._right.setdefault(one.side, []).append(one.right)
        now = time.monotonic()
        if now - self._said < SAY_S and self._done < self._left:
            return
        self._said = now
        seconds = (now - self._begun) / self._done * (self._left - self._done)
        scores = ", ".join(f"{side} {sum(r)} of {len(r)}" for side, r in sorted(self._right.items()))
        done = self._total - self._left + self._done
        self._say(f"{self._name}: {done} of {self._total}, right: {scores}; {seconds / 60:.1f} minutes left")
