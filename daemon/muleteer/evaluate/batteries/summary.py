"""What a run found, as tables: shares with their intervals, tokens, seconds, and what the sides differ by.

Pure. Knows attempts, nothing of how they were made or of files.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muleteer.evaluate.batteries.battery import FLAT, HARNESS, Tried
from muleteer.evaluate.batteries.intervals import paired, wilson

ALL = "all"
SHOWN_WRONG = 40  # wrong answers in a report's table; all of them are in its JSON


@dataclass(frozen=True, slots=True)
class Row:
    """One side's attempts at one group. Tokens are means an attempt, `seconds` the median."""

    group: str
    side: str
    n: int
    right: int
    decoded: float
    generated: float
    reused: float
    seconds: float

    @property
    def share(self) -> float:
        return self.right / self.n

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.right, self.n)

    def as_dict(self) -> dict[str, object]:
        low, high = self.interval
        return {
            "group": self.group,
            "side": self.side,
            "n": self.n,
            "right": self.right,
            "share": round(self.share, 4),
            "interval": [round(low, 4), round(high, 4)],
            "decoded": round(self.decoded, 1),
            "generated": round(self.generated, 1),
            "reused": round(self.reused, 1),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """Two sides on the cases both have tried: shares of `side` less those of `against`, and the median of the
    seconds' ratio, case by case, each with its interval."""

    group: str
    side: str
    against: str
    n: int
    points: float
    interval: tuple[float, float]
    ratio: float | None

    def as_dict(self) -> dict[str, object]:
        return {
            "group": self.group,
            "side": self.side,
            "against": self.against,
            "n": self.n,
            "points": round(100 * self.points, 1),
            "interval": [round(100 * end, 1) for end in self.interval],
            "seconds_ratio": None if self.ratio is None else round(self.ratio, 3),
        }


def rows(attempts: Sequence[Tried], whole: bool = True) -> list[Row]:
    """One row a group and side, in the order of their first attempt; with several groups and `whole`, also a
    row over all."""
    groups = list(dict.fromkeys(one.group for one in attempts))
    sides = list(dict.fromkeys(one.side for one in attempts))
    found = [_row(group, side, attempts) for group in groups for side in sides]
    if whole and len(groups) > 1:
        found += [_row(ALL, side, attempts) for side in sides]
    return [row for row in found if row]


def _row(group: str, side: str, attempts: Iterable[Tried]) -> Row | None:
    mine = [one for one in attempts if one.side == side and group in (ALL, one.group)]
    if not mine:
        return None
    return Row(
        group=group,
        side=side,
        n=len(mine),
        right=sum(one.right for one in mine),
        decoded=statistics.fmean(one.decoded for one in mine),
        generated=statistics.fmean(one.generated for one in mine),
        reused=statistics.fmean(one.reused for one in mine),
        seconds=statistics.median(one.seconds for one in mine),
    )


def differences(attempts: Sequence[Tried], against: str = FLAT) -> list[Difference]:
    """Every other side against one, group by group and over all; nothing where that side did not run."""
    groups = list(dict.fromkeys(one.group for one in attempts))
    sides = [side for side in dict.fromkeys(one.side for one in attempts) if side != against]
    if len(groups) > 1:
        groups.append(ALL)
    found = (_difference(group, side, against, attempts) for group in groups for side in sides)
    return [one for one in found if one]


def _difference(group: str, side: str, against: str, attempts: Iterable[Tried]) -> Difference | None:
    by_case: dict[str, dict[str, Tried]] = {}
    for one in attempts:
        if group in (ALL, one.group):
            by_case.setdefault(one.case, {})[one.side] = one
    pairs = [(both[side], both[against]) for both in by_case.values() if side in both and against in both]
    if not pairs:
        return None
    points = [float(mine.right) - float(other.right) for mine, other in pairs]
    ratios = [mine.seconds / other.seconds for mine, other in pairs if mine.seconds and other.seconds]
    return Difference(
        group=group,
        side=side,
        against=against,
        n=len(pairs),
        points=statistics.fmean(points),
        interval=paired(points),
        ratio=statistics.median(ratios) if ratios else None,
    )


def levels(attempts: Sequence[Tried]) -> list[tuple[str, str, int, float, float, float]]:
    """Side, level, how many attempts had it, and per such attempt: tokens decoded, generated, milliseconds
    (means). Levels of one tool each (`agent:name`) are one."""
    sums: dict[tuple[str, str], list[tuple[int, int, float]]] = {}
    for one in attempts:
        mine: dict[str, tuple[int, int, float]] = {}
        for name, decoded, generated, ms in one.levels:
            level = name.partition(":")[0]
            before = mine.get(level, (0, 0, 0.0))
            mine[level] = (before[0] + decoded, before[1] + generated, before[2] + ms)
        for level, use in mine.items():
            sums.setdefault((one.side, level), []).append(use)
    return [
        (side, level, len(uses), *(statistics.fmean(column) for column in zip(*uses, strict=True)))  # type: ignore[misc]  # three columns
        for (side, level), uses in sums.items()
    ]


def markdown(attempts: Sequence[Tried], against: str = FLAT, whole: bool = True) -> str:
    """The tables of a run."""
    lines = [
        "| group | side | n | right | share | 95 % interval | decoded | generated | reused | seconds |",
        "|---|---|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    for row in rows(attempts, whole):
        low, high = row.interval
        lines.append(
            f"| {row.group} | {row.side} | {row.n} | {row.right} | {100 * row.share:.1f} % "
            f"| {100 * low:.1f} to {100 * high:.1f} % | {row.decoded:.1f} | {row.generated:.1f} "
            f"| {row.reused:.1f} | {row.seconds:.2f} |"
        )
    if compared := differences(attempts, against):
        lines += [
            "",
            f"| group | side against {against} | pairs | points | 95 % interval | seconds, ratio |",
            "|---|---|--:|--:|---|--:|",
        ]
        for one in compared:
            low, high = (100 * end for end in one.interval)
            ratio = "-" if one.ratio is None else f"{one.ratio:.2f}"
            lines.append(
                f"| {one.group} | {one.side} | {one.n} | {100 * one.points:+.1f} "
                f"| {low:+.1f} to {high:+.1f} | {ratio} |"
            )
    if whole:
        lines += ["", "| side | level | attempts | decoded | generated | ms |", "|---|---|--:|--:|--:|--:|"]
        lines += [
            f"| {side} | {level} | {n} | {decoded:.1f} | {generated:.1f} | {ms:.0f} |"
            for side, level, n, decoded, generated, ms in levels(attempts)
        ]
    return "\n".join(lines)


def wrong(attempts: Sequence[Tried]) -> str:
    """The first wrong answers, as a list."""
    found = [one for one in attempts if not one.right]
    lines = [
        f"- {one.side}, {one.case}: {_short(one.got) or 'nothing'} ({_short(one.why)})"
        for one in found[:SHOWN_WRONG]
    ]
    if len(found) > SHOWN_WRONG:
        lines.append(f"- and {len(found) - SHOWN_WRONG} more, in the JSON file")
    return "\n".join(lines)


def _short(text: str, most: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def sides_of(attempts: Iterable[Tried]) -> tuple[str, ...]:
    """Harness first, flat second, others by name."""
    rank = {HARNESS: 0, FLAT: 1}
    return tuple(sorted({one.side for one in attempts}, key=lambda side: (rank.get(side, 2), side)))
