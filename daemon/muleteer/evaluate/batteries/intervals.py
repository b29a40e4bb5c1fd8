"""How far a figure can be trusted: intervals of a share, and of what two sides of the same cases differ by.

Pure. All intervals are at 95 %.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Z = 1.959963984540054  # the normal distribution's 97.5 % point
RESAMPLES = 2_000  # the ends of a bootstrap interval move by less than a tenth of its width
SEED = 20_417  # any; the same one, so that a report can be repeated


def wilson(right: int, n: int) -> tuple[float, float]:
    """The interval of a share (Wilson 1927), which is honest also near 0 and 1; (0, 1) for no cases."""
    if n == 0:
        return 0.0, 1.0
    share, square = right / n, Z * Z / n
    middle = (share + square / 2) / (1 + square)
    half = Z / (1 + square) * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def paired(differences: Sequence[float]) -> tuple[float, float]:
    """The interval of the mean of paired differences, by bootstrap over the cases; (0, 0) for none."""
    if not differences:
        return 0.0, 0.0
    draw = random.Random(SEED)  # noqa: S311  (a repeatable sample, no secret)
    n = len(differences)
    means = sorted(sum(draw.choices(differences, k=n)) / n for _ in range(RESAMPLES))
    cut = round(RESAMPLES * 0.025)
    return means[cut], means[-cut - 1]
