"""`muleteer alarms`: what is set, from the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

TEA = {
    "id": 3,
    "kind": "timer",
    "label": "tea",
    "due": "2026-11-30T08:05:00+01:00",
    "left_s": 125.4,
    "seconds": 300,
}
UP = {
    "id": 4,
    "kind": "alarm",
    "label": "",
    "due": "2026-12-01T07:30:00+01:00",
    "left_s": 84300,
    "repeat": [0, 4],
}
BODY: dict[str, object] = {
    "timers": [TEA, UP],
    "missed": [{"id": 1, "label": "oven", "due": "2026-11-30T06:00:00+01:00"}],
}


def test_the_list(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/timers"] = obj(BODY)
    outcome = run("alarms")
    assert outcome.code == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines == [
        "id kind label rings in again",
        "3 timer tea Mon 30 Nov 08:05 2 minutes 5 seconds",
        "4 alarm Tue 01 Dec 07:30 23 hours 25 minutes Mon Fri",
        "Missed: oven, due Mon 30 Nov 06:00",
    ]
    assert json.loads(run("alarms", "--json").out) == BODY


def test_an_empty_list_says_so(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/timers"] = obj({"timers": [], "missed": []})
    assert run("alarms").out == "No timer or alarm is set.\n"
    daemon.replies["/v1/timers"] = obj({"timers": [], "missed": [], "unreadable": 2})
    assert run("alarms").out == "Damaged, cannot be read: 2. The daemon's log has their numbers.\n"


@pytest.mark.parametrize("body", [{}, {"timers": 5}, {"timers": [{"id": 1, "due": "noon", "repeat": ["x"]}]}])
def test_an_answer_that_makes_no_sense_is_no_crash(run: Run, daemon: ScriptedDaemon, body: object) -> None:
    daemon.replies["/v1/timers"] = obj(body)
    assert run("alarms").code == 0


def test_cancelling_one(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/timers/3"] = obj({"cancelled": TEA})
    assert run("alarms", "cancel", "3").out == "Cancelled 3 (tea).\n"
    assert json.loads(run("alarms", "cancel", "--json", "3").out) == {"cancelled": TEA}
    sentence = "No timer has the number 9; GET /v1/timers lists those that are set."
    daemon.replies["/v1/timers/9"] = obj({"error": {"code": "not_found", "message": sentence}}, 404)
    outcome = run("alarms", "cancel", "9")
    assert (outcome.code, outcome.err) == (1, f"Error: {sentence}\n")
    assert run("alarms", "cancel", "tea").code == 2
