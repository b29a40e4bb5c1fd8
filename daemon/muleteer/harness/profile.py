"""Which path a turn takes, planned level by level or flat, by what was measured on its model. Pure.

A profile is what `muleteer evaluate load --profile` writes: for each number of tools in reach how often each
path was right, of how many, and its seconds. Knows that form and the rule; not where profiles are kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Path = Literal["harness", "flat"]

# Cases below which a measurement is none: of thirty, one more or less is three points.
FEWEST = 30

# Standard errors that two shares must be apart to count as different: one chance in ten that they are not.
APART = 1.64


@dataclass(frozen=True, slots=True)
class Side:
    """One path at one number of tools: `right` of `n` cases, `seconds` a case."""

    n: int
    right: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Row:
    """Both paths with so many `tools` in reach."""

    tools: int
    harness: Side
    flat: Side


@dataclass(frozen=True, slots=True)
class Profile:
    """What was measured of one model, by the `command`; rows by their number of tools."""

    model: str
    command: str
    rows: tuple[Row, ...]


def read(text: str) -> Profile:
    """A profile from its JSON. Raises `ValueError` with a sentence."""
    try:
        found = json.loads(text)
        rows = sorted((_row(row) for row in found["tools"] if _both(row)), key=lambda row: row.tools)
        return Profile(str(found["model"]), str(found.get("command", "")), tuple(rows))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is no profile as `muleteer evaluate load --profile` writes them") from error


def path(profile: Profile | None, tools: int, skills: int) -> tuple[Path, str]:
    """The path of a turn on the model at home with so many tools and skills in reach, and why."""
    if not tools:
        return "harness", "nothing is in reach"
    if not skills:
        return "flat", "no skill is in use"
    rows = [row for row in profile.rows if min(row.harness.n, row.flat.n) >= FEWEST] if profile else []
    if not rows:
        return "harness", "the model was not measured"
    return _better(_nearest(rows, tools))


def _nearest(rows: Sequence[Row], tools: int) -> Row:
    """The measurement with as many tools or the next more; of fewer tools only the largest one."""
    return next((row for row in rows if row.tools >= tools), rows[-1])


def _better(row: Row) -> tuple[Path, str]:
    """The path that is right more often, if that is no accident; else the faster one."""
    shares = row.harness.right / row.harness.n, row.flat.right / row.flat.n
    both = (row.harness.right + row.flat.right) / (row.harness.n + row.flat.n)
    error = math.sqrt(both * (1 - both) * (1 / row.harness.n + 1 / row.flat.n))
    measured = f"{shares[0]:.0%} right level by level and {shares[1]:.0%} flat with {row.tools} tools"
    if abs(shares[0] - shares[1]) > APART * error:
        return ("harness" if shares[0] > shares[1] else "flat"), measured
    faster: Path = "harness" if row.harness.seconds <= row.flat.seconds else "flat"
    return faster, f"{measured}, and the one is faster"


def _both(row: Mapping[str, Any]) -> bool:
    return "harness" in row and "flat" in row


def _row(row: Mapping[str, Any]) -> Row:
    return Row(int(row["number"]), _side(row["harness"]), _side(row["flat"]))


def _side(side: Mapping[str, Any]) -> Side:
    read = Side(int(side["n"]), int(side["right"]), float(side["seconds"]))
    if not 0 <= read.right <= read.n or not math.isfinite(read.seconds):
        raise ValueError("more are right than there are")
    return read
