"""What a benchmark found, as plain data: measures, targets, medians, the JSON form and the table's rows.

Pure. Knows no engine, no peer and no clock.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

NAMES = ("decode", "prefill", "first_token", "hops", "restart", "fill", "copy", "cancel", "memory")
"""Every measure, in the order they run."""


@dataclass(frozen=True, slots=True)
class Target:
    """One sentence of what is to be reached: `value` is at least or at most `limit`. A value that could not
    be measured is None, and then nothing is known."""

    what: str
    value: float | None
    limit: float
    at_least: bool = False

    @property
    def reached(self) -> bool | None:
        if self.value is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def as_dict(self) -> dict[str, object]:
        sign = ">=" if self.at_least else "<="
        return {
            "what": self.what,
            "value": rounded(self.value),
            "target": f"{sign} {self.limit:g}",
            "reached": self.reached,
        }


@dataclass(frozen=True, slots=True)
class Measure:
    """`ours` and `peer` are medians in `unit`, of `n` samples each; `ratio` is ours by what `against` names
    (the peer, unless it says something else). `peer` is None where none was run or none makes sense.
    `details` are further figures, by name."""

    name: str
    unit: str
    ours: float | None = None
    peer: float | None = None
    ratio: float | None = None
    n: int = 0
    against: str = "the peer"
    targets: tuple[Target, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    note: str = ""

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "ours": rounded(self.ours),
            "peer": rounded(self.peer),
            "ratio": rounded(self.ratio),
            "unit": self.unit,
            "n": self.n,
            "against": self.against,
            "targets": [target.as_dict() for target in self.targets],
            "note": self.note,
            **self.details,
        }


def compared(
    measure: Measure,
    ours: Sequence[float],
    peer: Sequence[float],
    limit: float | None = None,
    *,
    at_least: bool = False,
) -> Measure:
    """The measure with its medians, its ratio to the peer, and that ratio's target, if it has one, in front
    of the others."""
    mine, theirs = median(ours), median(peer)
    share = ratio(mine, theirs)
    own = () if limit is None else (Target(f"{measure.name}: ours / peer", share, limit, at_least),)
    return replace(
        measure,
        ours=mine,
        peer=theirs,
        ratio=share,
        n=len(ours),
        targets=(*own, *measure.targets),
        details={"samples": numbers(ours), "peer_samples": numbers(peer), **measure.details},
    )


def failed(name: str, why: str) -> Measure:
    """A measure that could not be taken: nothing in it is reached or missed."""
    return Measure(name, "", note=why)


def median(values: Iterable[float]) -> float | None:
    """None for no values."""
    known = list(values)
    return statistics.median(known) if known else None


def ratio(value: float | None, base: float | None) -> float | None:
    """None where either is unknown, or the base is zero."""
    return value / base if value is not None and base else None


def rounded(value: float | None) -> float | None:
    """Four significant digits: more than any of this can be repeated to."""
    return None if value is None else float(f"{value:.4g}")


def numbers(values: Iterable[float]) -> list[float]:
    """Samples as they are written to the JSON file."""
    return [float(f"{value:.4g}") for value in values]


def rows(measures: Iterable[Measure]) -> list[tuple[str, ...]]:
    """The table at the end: name, ours, peer, unit, n, then one target a row with its value and verdict."""
    table: list[tuple[str, ...]] = []
    for measure in measures:
        head: tuple[str, ...] = (
            measure.name,
            shown(measure.ours),
            shown(measure.peer),
            measure.unit,
            str(measure.n or "-"),
        )
        if not measure.targets:
            table.append((*head, measure.note, "", "", "not measured" if measure.ours is None else ""))
        for target in measure.targets:
            words = target.as_dict()
            table.append((*head, target.what, shown(target.value), str(words["target"]), verdict(target)))
            head = ("",) * len(head)
    return table


def verdict(target: Target) -> str:
    return {True: "reached", False: "missed", None: "not measured"}[target.reached]


def shown(value: float | None) -> str:
    """Three significant digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
