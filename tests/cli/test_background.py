"""`muleteer turn`, `inbox` and `trace` from the command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from muleteer.cli.reported import ReportedError
from muleteer.cli.turn import PAUSES, patiently
from muleteer.errors import MuleteerError, SocketError
from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

ENDED: dict[str, object] = {
    "skill": "daily-brief",
    "slot": "2026-11-30T07:00:00Z",
    "state": "done",
    "reason": "",
    "text": "Two appointments.",
}
ENTRY = {
    "id": "d1-1",
    "when": "2026-11-30T07:00:03+00:00",
    "skill": "daily-brief",
    "text": "Two appointments.\nNo rain.",
    "done": True,
    "read": False,
}
LEVEL = {"step": "level", "name": "agent", "prompt": 9, "reused": 5, "decoded": 4, "generated": 2, "ms": 3.2}
TRACE: dict[str, object] = {
    "turn": "t1",
    "skill": "",
    "outcome": "finished",
    "ms": 20.0,
    "steps": [
        {"step": "plan", "handles": ["search-info"], "confidence": 0.5, "attempt": 1, "at": 1.0},
        {"at": 2.0, **LEVEL},
        {"step": "plan", "handles": [], "confidence": 0.9, "attempt": 2, "at": 3.0},
        {"step": "call", "tool": "timer", "at": 4.0},
        {"step": "result", "tool": "timer", "status": "ok", "ms": 1.5, "at": 5.0},
    ],
}


def test_a_turn_is_asked_for_and_its_end_is_the_exit_code(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/background"] = obj(ENDED)
    outcome = run("turn", "@daily-brief")
    assert (outcome.code, outcome.out) == (
        0,
        "daily-brief at 2026-11-30T07:00:00Z: done.\nTwo appointments.\n",
    )
    assert daemon.requests == [{"skill": "daily-brief", "now": False}]
    daemon.replies["/v1/background"] = obj({**ENDED, "slot": "by hand 1796059134"})
    assert (
        run("turn", "daily-brief", "--now").out == "daily-brief was run by hand: done.\nTwo appointments.\n"
    )
    daemon.replies["/v1/background"] = obj({**ENDED, "state": "failed", "reason": "It broke.", "text": ""})
    assert run("turn", "daily-brief").code == 1
    daemon.replies["/v1/background"] = obj({**ENDED, "state": "skipped", "reason": "It is hot.", "text": ""})
    assert run("turn", "daily-brief").code == 0


def test_a_daemon_that_dies_meanwhile_is_worth_another_try(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/background"] = lambda exchange: None
    assert run("turn", "daily-brief").code == 4
    daemon.replies["/v1/background"] = obj(
        {"error": {"code": "bad_request", "message": "There is no skill."}}, 400
    )
    assert run("turn", "daily-brief").code == 1


def test_a_timers_turn_is_tried_again_while_no_daemon_or_no_model_is_there_and_then_fails() -> None:
    lost = ReportedError("connection_lost", "The connection is lost.")
    said: list[MuleteerError] = [SocketError("No daemon."), ReportedError("loading", "It loads."), lost]
    answers: Iterator[MuleteerError | dict[str, object]] = iter([*said, ENDED])
    waits: list[float] = []

    def ask() -> dict[str, object]:
        answer = next(answers)
        if isinstance(answer, MuleteerError):
            raise answer
        return answer

    assert patiently(ask, PAUSES, waits.append) == ENDED
    assert waits == [*PAUSES[:3]]
    answers = iter([SocketError("No daemon.")] * 20)
    waits.clear()
    with pytest.raises(SocketError):
        patiently(ask, PAUSES, waits.append)
    assert (waits, len(list(answers))) == ([*PAUSES], 20 - len(PAUSES) - 1)
    assert 3600 <= sum(PAUSES) <= 2 * 3600


def test_a_turn_that_was_refused_is_not_tried_again(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/background"] = obj(
        {"error": {"code": "bad_request", "message": "There is no skill."}}, 400
    )
    assert run("turn", "--retry", "daily-brief").code == 1
    assert len(daemon.requests) == 1


def test_the_inbox_shows_what_is_new_and_counts_it_as_read(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/inbox?limit=20&unread=true"] = obj({"entries": [ENTRY]})
    daemon.replies["/v1/inbox/read"] = obj({"read": 1})
    outcome = run("inbox")
    assert outcome.out == "2026-11-30T07:00:03+00:00  @daily-brief\n  Two appointments.\n  No rain.\n"
    assert daemon.requests[-1] == {"ids": ["d1-1"]}
    before = len(daemon.requests)
    run("inbox", "--keep")
    assert {"ids": ["d1-1"]} not in daemon.requests[before:]
    daemon.replies["/v1/inbox?limit=20&unread=true"] = obj({"entries": []})
    assert run("inbox").out == "Nothing new is in the inbox.\n"


def test_a_trace_is_a_tree(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/traces/newest"] = obj(TRACE)
    assert run("trace").out.splitlines() == [
        "turn t1, finished, 20 ms",
        "├─ plan 1: @search-info, 50% sure  (1 ms)",
        "│  └─ agent: 9 prompt, 5 reused, 4 decoded, 2 generated, 3 ms  (2 ms)",
        "└─ plan 2: @reply, 90% sure  (3 ms)",
        "   ├─ call timer  (4 ms)",
        "   └─ timer: ok, 2 ms  (5 ms)",
        "9 tokens of prompt, 5 of them reused, 4 decoded; 2 generated",
    ]


def test_who_waits_is_told_what_for(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/background"] = obj(ENDED)
    assert "Running daily-brief" in run("turn", "daily-brief").err
