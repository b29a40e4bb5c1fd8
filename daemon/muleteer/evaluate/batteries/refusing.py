"""What another share of `none` would have made of a run: right functions against rightly refused messages.

Pure. From the shares that the staged path's first choice gave each case, which a run keeps; what is called
with which arguments is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from muleteer.evaluate.batteries.battery import HARNESS, Tried
from muleteer.evaluate.batteries.bfcl import UNANSWERED, Question
from muleteer.evaluate.batteries.intervals import wilson
from muleteer.harness.staged import NONE, NONE_SHARE

SHARES = (0.5, 0.35, NONE_SHARE, 0.2, 0.15, 0.1)


def refusals(questions: Sequence[Question], attempts: Sequence[Tried]) -> str:
    """A table: by how likely `none` must be to be taken, of each category how often the right function would
    have been chosen, or rightly none. Empty where no attempt has shares."""
    wanted = {
        f"{each.category} {each.id}": {name for answer in each.accepted for name in answer}
        for each in questions
    }
    chosen = [one for one in attempts if one.side == HARNESS and one.extra.get("shares")]
    groups = list(dict.fromkeys(one.group for one in chosen))
    if not groups:
        return ""
    lines = [f"| `none` from | {' | '.join(groups)} |", f"|--:|{'---|' * len(groups)}"]
    for share in SHARES:
        cells = [_cell([one for one in chosen if one.group == group], wanted, share) for group in groups]
        mark = " (in force)" if share == NONE_SHARE else ""
        lines.append(f"| {share:g}{mark} | {' | '.join(cells)} |")
    return "\n".join(["First choices, by how likely `none` must be to be taken:", "", *lines])


def _cell(attempts: Sequence[Tried], wanted: Mapping[str, set[str]], share: float) -> str:
    n = len(attempts)
    right = sum(_right(one.extra["shares"], one.group, wanted[one.case], share) for one in attempts)
    low, high = wilson(right, n)
    return f"{right} of {n}, {100 * right / n:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _right(shares: Mapping[str, float], category: str, wanted: set[str], share: float) -> bool:
    refused = shares[NONE] >= share
    if category == UNANSWERED or refused:
        return refused and category == UNANSWERED
    return max((name for name in shares if name != NONE), key=lambda name: shares[name]) in wanted
