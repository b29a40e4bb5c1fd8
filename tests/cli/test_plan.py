"""`muleteer plan`: the plan and what speaks for it, in words or as it came."""

from __future__ import annotations

import json

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

FOUND = {
    "message": "is the lamp on",
    "handles": ["@sensor"],
    "confidence": 0.93,
    "way": "tool",
    "toolset": ["sensor"],
    "candidates": [
        {"handle": "@sensor", "share": 0.93, "model": 0.8, "again": 0.9, "likeness": 0.4, "place": 1},
        {"handle": "@reply", "share": 0.07, "model": 0.2, "again": 0.1, "likeness": -0.9, "place": 0},
        {"handle": "@timer", "share": 0.001, "model": 0.0, "again": 0.0, "likeness": -0.9, "place": 2},
    ],
    "ruled_out": {"@switch": "the message asks, and this changes something"},
    "levels": [{"name": "planner", "prompt": 900, "reused": 885, "decoded": 15, "generated": 3, "ms": 250.0}],
    "shown": 14,
    "exchanges": 60,
    "menu_tokens": 1500,
}


def test_it_tells_the_plan_and_why(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/plan"] = obj(FOUND)
    outcome = run("plan", "is the lamp on")
    assert outcome.code == 0
    assert daemon.requests == [{"message": "is the lamp on"}]
    assert "Plan:    @sensor (93% sure)" in outcome.out
    assert "Way:     one tool, called at once" in outcome.out
    assert "15 tokens decoded, 885 reused, 0.25 s" in outcome.out
    assert "not @switch: the message asks, and this changes something" in outcome.out
    assert "@reply" in outcome.out
    assert "@timer" not in outcome.out, "a share of a thousandth is not worth a line"


def test_as_json_it_is_what_the_daemon_said(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/plan"] = obj(FOUND)
    assert json.loads(run("plan", "is the lamp on", "--json").out) == FOUND


def test_a_reply_is_told_as_one(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/plan"] = obj({**FOUND, "handles": [], "toolset": [], "way": "reply", "ruled_out": {}})
    out = run("plan", "hello").out
    assert "Plan:    @reply" in out
    assert "Tools:" not in out


def test_without_a_daemon_it_says_so(run: Run) -> None:
    assert run("plan", "hello").code == 3


def test_the_parts_of_several_requests_are_told(run: Run, daemon: ScriptedDaemon) -> None:
    parts = [
        {"said": "is the lamp on", "handles": ["@sensor"], "confidence": 0.9},
        {"said": "order a pizza", "handles": [], "confidence": 0.95},
    ]
    daemon.replies["/v1/plan"] = obj({**FOUND, "parts": parts})
    out = run("plan", "is the lamp on and order a pizza").out
    assert "Part:    is the lamp on: @sensor (90% sure)" in out
    assert "Part:    order a pizza: nothing that can be done here (95% sure)" in out
    assert "As a whole it would be:" in out
