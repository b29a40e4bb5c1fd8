"""Counting what a routing run chose."""

from __future__ import annotations

import pytest

from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.routing.figures import BINS, Share, figures
from muleteer.harness.planner import REPLY


def one(wanted: str, got: str, confidence: float = 0.9, **extra: object) -> Tried:
    return Tried(
        case=f"{wanted} {got} {confidence}",
        group=wanted,
        side="shipped",
        right=wanted == got,
        got=got,
        decoded=10,
        generated=4,
        seconds=0.5,
        extra={"message": "m", "confidence": confidence, "menu_tokens": 900, **extra},
    )


ATTEMPTS = [
    one("timer", "timer", 0.99),
    one("timer", REPLY, 0.55),
    one("sensor", "switch", 0.5, effect="physical", asks=True),
    one("sensor", "timer+sensor", 0.45, effect="write", asks=False),
    one("search-info", "check-notebook", 0.7, related=True),
    one(REPLY, REPLY, 0.98),
    one(REPLY, "timer", 0.3, effect="write"),
    one("switch", "switch", 0.9, effect="physical", wanted_effect="physical", asks=True),
]


def test_everything_is_counted() -> None:
    found = figures("shipped", ATTEMPTS)
    assert found.right == Share(3, 8)
    assert found.related == Share(4, 8)
    assert found.handles == Share(2, 6)
    assert found.replies == Share(1, 2)
    assert (found.refused, found.doubled, found.again) == (1, 1, 0)
    assert found.unsafe == ("m: @switch",)
    assert found.undue == ("m: @switch", "m: @timer", "m: @timer")
    assert found.by_handle["timer"] == Share(1, 2)
    assert found.confusions[0] in (("timer", REPLY, 1), ("sensor", "switch", 1))
    assert len(found.confusions) == 5
    assert (found.decoded, found.generated, found.menu_tokens, found.seconds) == (10, 4, 900, 0.5)


def test_calibration_counts_every_attempt_once() -> None:
    found = figures("shipped", ATTEMPTS).calibration
    assert [low for low, _ in found] == list(BINS)
    assert sum(share.n for _, share in found) == len(ATTEMPTS)
    assert dict(found)[0.97] == Share(2, 2)


def test_nothing_asked_is_nothing_found() -> None:
    found = figures("shipped", [])
    assert found.right.share == 0
    assert str(found.right) == "none"


def test_a_share_knows_how_far_it_can_be_trusted() -> None:
    low, high = Share(95, 100).interval
    assert low == pytest.approx(0.888, abs=0.002)
    assert high == pytest.approx(0.978, abs=0.002)
    assert figures("x", ATTEMPTS).as_dict()["right"] == Share(3, 8).as_dict()
