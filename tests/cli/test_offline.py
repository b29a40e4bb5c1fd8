"""`muleteer offline`: the switch from the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

ON = {"mode": "on", "offline": True, "reason": "Offline mode is on"}


@pytest.mark.parametrize("mode", ["on", "off", "auto"])
def test_a_mode_is_sent(run: Run, daemon: ScriptedDaemon, mode: str) -> None:
    daemon.replies["/v1/offline"] = obj({"mode": mode, "offline": False, "reason": ""})
    outcome = run("offline", mode)
    assert (outcome.code, outcome.out) == (0, f"Tools may use the network (mode {mode}).\n")
    assert daemon.requests == [{"mode": mode}]


@pytest.mark.parametrize("words", [["offline"], ["offline", "status"]])
def test_without_one_it_tells_what_is_so(run: Run, daemon: ScriptedDaemon, words: list[str]) -> None:
    daemon.replies["/v1/offline"] = obj(ON)
    assert run(*words).out == "Tools may not use the network: offline mode is on (mode on).\n"
    assert json.loads(run(*words, "--json").out) == ON
    assert daemon.requests == [{}, {}]


def test_other_words_are_wrong_usage(run: Run, daemon: ScriptedDaemon) -> None:
    outcome = run("offline", "perhaps")
    assert outcome.code == 2
    assert "'on', 'off', 'auto', 'status'" in outcome.err
    assert daemon.requests == []


def test_without_a_daemon_it_says_so(run: Run) -> None:
    outcome = run("offline", "on")
    assert outcome.code == 3
    assert "No daemon answers" in outcome.err
