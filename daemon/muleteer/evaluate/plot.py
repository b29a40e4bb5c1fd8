"""One picture of a benchmark: every ratio that has a target, as a share of that target.

matplotlib is imported only here, when a plot is asked for.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from muleteer.evaluate.report import Measure, Target, shown, verdict

COLOURS = {"reached": "#3a7d44", "missed": "#b3392f", "not measured": "#999999"}


def installed() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def draw(measures: Sequence[Measure], title: str, file: Path) -> None:
    """Write PNG or SVG, by the file's ending. A bar that ends left of 1 is worse than its target."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    targets = [target for measure in measures for target in measure.targets if target.value is not None]
    figure, axes = pyplot.subplots(figsize=(10, 1.5 + 0.45 * len(targets)), layout="constrained")
    places = range(len(targets))
    axes.barh(places, [goodness(t) for t in targets], color=[COLOURS[verdict(t)] for t in targets])
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_yticks(places, [target.what for target in targets])
    axes.invert_yaxis()
    axes.set_xlim(0, 2)
    for place, target in zip(places, targets, strict=True):
        words = f"{shown(target.value)} (target {target.as_dict()['target']})"
        axes.text(0.02, place, words, va="center", color="white", fontsize=8)
    axes.set_xlabel("how well the target is met (1 is the target, more is better, cut at 2)")
    figure.suptitle(title, fontsize=10)
    figure.savefig(file, dpi=150)
    pyplot.close(figure)


def goodness(target: Target) -> float:
    """1 where the target is just met, more where it is surpassed, at most 2; 0 for nothing."""
    if target.value is None:
        return 0.0
    better, worse = (target.value, target.limit) if target.at_least else (target.limit, target.value)
    if worse == 0:
        return 2.0 if better > 0 else 1.0
    return min(2.0, better / worse)
