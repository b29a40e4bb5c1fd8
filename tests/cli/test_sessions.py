"""`muleteer sessions`: conversations by name, from the command line."""

from __future__ import annotations

import json

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

PARTY = {"name": "party", "turns": 3, "last": "2026-11-30T08:05:00.000+00:00", "said": "We are \x1b[2Jsix."}


def test_sessions_are_listed_safely(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/sessions"] = obj({"sessions": [PARTY], "kept": True})
    done = run("sessions")
    assert done.code == 0
    assert "party" in done.out
    assert "We are [2Jsix." in done.out
    assert json.loads(run("sessions", "--json").out)["sessions"][0]["turns"] == 3


def test_none_and_not_kept_are_told_apart(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/sessions"] = obj({"sessions": [], "kept": True})
    assert "No conversation has a name" in run("sessions").err
    daemon.replies["/v1/sessions"] = obj({"sessions": [], "kept": False})
    assert "keep_days is 0" in run("sessions").err


def test_a_session_is_forgotten(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/sessions/party"] = obj({"turns": 3})
    assert run("sessions", "forget", "party").out == "Forgotten: 3 turns of party.\n"
