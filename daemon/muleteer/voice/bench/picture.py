"""The picture of a run: for each way its parts in their order, as one bar, and the target.

matplotlib is imported only here, when a picture is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from muleteer.voice.bench.latency import PARTS, WAYS, Lap, medians


def draw(laps: Sequence[Lap], target: float | None, title: str, file: Path) -> None:
    """Write PNG or SVG, by the file's ending. Parts are medians: they need not add up to the line."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10, 3.2), layout="constrained")
    for way in WAYS:
        whole, parts = medians(laps, way)
        left = 0.0
        for number, part in enumerate(PARTS):
            label = part if way == WAYS[0] else None
            axes.barh(way, parts[part], left=left, color=f"C{number}", label=label)
            left += parts[part]
        axes.plot([whole, whole], [WAYS.index(way) - 0.45, WAYS.index(way) + 0.45], color="black")
    if target is not None:
        axes.axvline(target, color="red", linestyle="--", label=f"target {target:g} s")
    axes.set_xlabel("seconds from the end of speech to the first sound (black: median of the whole)")
    axes.invert_yaxis()
    axes.legend(fontsize=7, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.25))
    figure.suptitle(title, fontsize=10)
    figure.savefig(file, dpi=130)
    pyplot.close(figure)
