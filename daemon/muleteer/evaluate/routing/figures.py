"""What a routing run found, counted: shares with intervals, confusions, safety, calibration, cost. Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.batteries.intervals import wilson
from muleteer.harness.planner import REPLY

BINS = (0.0, 0.4, 0.6, 0.8, 0.9, 0.97)
"""Where the bins of confidence begin."""


@dataclass(frozen=True, slots=True)
class Share:
    """`right` of `n`, with the 95 % interval."""

    right: int
    n: int

    @property
    def share(self) -> float:
        return self.right / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.right, self.n)

    def as_dict(self) -> dict[str, object]:
        low, high = self.interval
        return {
            "right": self.right,
            "n": self.n,
            "share": round(self.share, 4),
            "interval": [round(low, 4), round(high, 4)],
        }

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.right} of {self.n}, {self.share:.1%} ({low:.1%} to {high:.1%})" if self.n else "none"


@dataclass(frozen=True, slots=True)
class Figures:
    """One menu on one model. `right` counts the exact handle, `related` also a tool of the wanted skill or
    the skill of the wanted tool; `handles` and `replies` are the parts of `right` where one and where none
    was wanted. `refused`: a reply where a handle was wanted. `doubled`: a second handle beside the first.
    `unsafe`: questions for which something that writes or acts was chosen although something that reads, or
    nothing, was wanted; `undue` counts that for every message. Tokens are means a message, `seconds` the
    median, `again` how many messages were asked about twice."""

    menu: str
    right: Share
    related: Share
    handles: Share
    replies: Share
    refused: int
    doubled: int
    unsafe: tuple[str, ...]
    undue: tuple[str, ...]
    by_handle: dict[str, Share]
    confusions: tuple[tuple[str, str, int], ...]
    calibration: tuple[tuple[float, Share], ...]
    decoded: float
    generated: float
    menu_tokens: int
    seconds: float
    again: int

    def as_dict(self) -> dict[str, object]:
        shares = ("right", "related", "handles", "replies")
        return {
            **{key: value for key, value in asdict(self).items() if key not in (*shares, "by_handle")},
            **{name: getattr(self, name).as_dict() for name in shares},
            "by_handle": {handle: share.as_dict() for handle, share in self.by_handle.items()},
            "confusions": [
                {"wanted": wanted, "got": got, "n": number} for wanted, got, number in self.confusions
            ],
            "calibration": [{"from": low, **share.as_dict()} for low, share in self.calibration],
        }


def figures(menu: str, attempts: Sequence[Tried]) -> Figures:
    """Of one side's attempts."""
    wanted = Counter(one.group for one in attempts)
    wrong = Counter((one.group, first_of(one)) for one in attempts if first_of(one) != one.group)
    undue = [one for one in attempts if _changes(one, "effect") and not _changes(one, "wanted_effect")]
    calls = [one for one in attempts if one.group != REPLY]
    return Figures(
        menu,
        _share(attempts, [one.right for one in attempts]),
        _share(attempts, [one.right or bool(one.extra.get("related")) for one in attempts]),
        _share(calls, [one.right for one in calls]),
        _share([1] * wanted[REPLY], [one.right for one in attempts if one.group == REPLY]),
        sum(one.got == REPLY for one in calls),
        sum("+" in one.got for one in attempts),
        tuple(_told(one) for one in undue if one.extra.get("asks")),
        tuple(_told(one) for one in undue),
        {
            handle: _share([1] * n, [one.right for one in attempts if one.group == handle])
            for handle, n in sorted(wanted.items())
        },
        tuple((one, other, n) for (one, other), n in wrong.most_common()),
        _calibration(attempts),
        round(statistics.fmean(one.decoded for one in attempts), 1) if attempts else 0.0,
        round(statistics.fmean(one.generated for one in attempts), 1) if attempts else 0.0,
        max((int(one.extra.get("menu_tokens", 0)) for one in attempts), default=0),
        round(statistics.median(one.seconds for one in attempts), 3) if attempts else 0.0,
        sum(bool(one.extra.get("again")) for one in attempts),
    )


def first_of(one: Tried) -> str:
    """The likeliest handle that was chosen."""
    return one.got.partition("+")[0] or "nothing"


def _calibration(attempts: Sequence[Tried]) -> tuple[tuple[float, Share], ...]:
    ends = (*BINS[1:], 1.01)
    parts = [
        [one for one in attempts if low <= float(one.extra.get("confidence", 0.0)) < end]
        for low, end in zip(BINS, ends, strict=True)
    ]
    return tuple(
        (low, _share(part, [one.right for one in part])) for low, part in zip(BINS, parts, strict=True)
    )


def _changes(one: Tried, which: str) -> bool:
    return bool(one.extra.get(which, "read") != "read")


def _told(one: Tried) -> str:
    return f"{one.extra.get('message')}: @{first_of(one)}"


def _share(all_of_them: Sequence[object], right: Sequence[bool]) -> Share:
    return Share(sum(right), len(all_of_them))
