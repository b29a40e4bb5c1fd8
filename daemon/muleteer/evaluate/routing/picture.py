"""One picture of a routing report: how much is right on each menu, and what a confidence is worth.

matplotlib is imported only here, when a plot is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from muleteer.evaluate.routing.figures import Figures

WANTED = 0.95


def draw(found: Sequence[tuple[str, str, Figures]], title: str, file: Path) -> None:
    """Write PNG or SVG, by the file's ending."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(13, 2 + 0.42 * len(found)), layout="constrained", width_ratios=(3, 2)
    )
    places = range(len(found))
    shares = [each.right for _, _, each in found]
    errors = [
        [share.share - share.interval[0] for share in shares],
        [share.interval[1] - share.share for share in shares],
    ]
    left.barh(places, [share.share for share in shares], xerr=errors, color="#4c72b0", ecolor="#222222")
    left.set_yticks(places, [f"{model}, menu {each.menu}, {half}" for model, half, each in found])
    left.invert_yaxis()
    left.axvline(WANTED, color="black", linewidth=1)
    left.set_xlim(0, 1)
    left.set_xlabel("share of messages with the right handle (95 % interval)")
    for model, half, each in found:
        known = [(low, share) for low, share in each.calibration if share.n]
        right.plot(
            [low for low, _ in known],
            [share.share for _, share in known],
            marker="o",
            label=f"{model}, {each.menu}, {half}",
        )
    right.set_ylim(0, 1.02)
    right.set_xlabel("confidence at least")
    right.set_ylabel("right")
    right.legend(fontsize=7)
    figure.suptitle(title, fontsize=10)
    figure.savefig(file, dpi=150)
    pyplot.close(figure)
