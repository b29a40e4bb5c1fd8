"""Pictures of a run: shares with their intervals, tokens and seconds, one group of bars a group of cases.

matplotlib is imported only here, when a picture is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from muleteer.evaluate.batteries.battery import FLAT, HARNESS
from muleteer.evaluate.batteries.summary import ALL, Row

COLOURS = {HARNESS: "#3a6ea5", FLAT: "#c97b2e"}
MANY = 6  # sides from which on each is a line of its own instead of a bar in a group


def draw(rows: Sequence[Row], title: str, file: Path) -> None:
    """Write PNG or SVG, by the file's ending."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    sides = list(dict.fromkeys(row.side for row in rows))
    if len(sides) > MANY:
        figure = _ranked(pyplot, [row for row in rows if row.group == ALL] or list(rows))
    else:
        figure = _grouped(pyplot, [row for row in rows if row.group != ALL], sides)
    figure.suptitle(title, fontsize=10)
    figure.savefig(file, dpi=130)
    pyplot.close(figure)


def _grouped(pyplot: Any, rows: Sequence[Row], sides: Sequence[str]) -> Any:
    groups = list(dict.fromkeys(row.group for row in rows))
    figure, (shares, tokens, seconds) = pyplot.subplots(
        1, 3, figsize=(max(10.0, 4 + 1.6 * len(groups)), 4.2), layout="constrained"
    )
    values: tuple[tuple[Any, str, Callable[[Row], float]], ...] = (
        (shares, "right, % (bar: 95 % interval)", lambda row: 100 * row.share),
        (tokens, "tokens decoded and generated, mean", lambda row: row.decoded + row.generated),
        (seconds, "seconds, median (shared machines: only ratios count)", lambda row: row.seconds),
    )
    width = 0.8 / len(sides)
    for axes, label, value in values:
        for number, side in enumerate(sides):
            mine = {row.group: row for row in rows if row.side == side}
            places = [i + (number - (len(sides) - 1) / 2) * width for i, g in enumerate(groups) if g in mine]
            found = [mine[group] for group in groups if group in mine]
            heights = [value(row) for row in found]
            axes.bar(places, heights, width, label=side, color=COLOURS.get(side))
            if axes is shares:
                axes.errorbar(places, heights, _whiskers(found), fmt="none", color="black", capsize=3)
            for place, height in zip(places, heights, strict=True):
                axes.annotate(
                    f"{height:.3g}", (place, 0), (0, 3), textcoords="offset points", ha="center",
                    fontsize=7, color="white",
                )  # fmt: skip
        axes.set_xticks(range(len(groups)), groups, rotation=20, ha="right")
        axes.set_title(label, fontsize=9)
    shares.set_ylim(0, 100)
    shares.legend(loc="lower right", fontsize=8)
    return figure


def _ranked(pyplot: Any, rows: Sequence[Row]) -> Any:
    """Many sides: a line each, the best on top."""
    ranked = sorted(rows, key=lambda row: row.share)
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.24 * len(ranked)), layout="constrained")
    axes.errorbar(
        [100 * row.share for row in ranked], range(len(ranked)), xerr=_whiskers(ranked), fmt="o",
        color=COLOURS[HARNESS], capsize=3,
    )  # fmt: skip
    axes.set_yticks(range(len(ranked)), [row.side for row in ranked], fontsize=8)
    axes.set_xlabel("right, % (bar: 95 % interval)")
    axes.grid(axis="x", alpha=0.3)
    return figure


def _whiskers(rows: Sequence[Row]) -> list[list[float]]:
    """Down and up from each share to the ends of its interval, in points; never below zero by rounding."""
    return [
        [max(0.0, 100 * (row.share - row.interval[0])) for row in rows],
        [max(0.0, 100 * (row.interval[1] - row.share)) for row in rows],
    ]
