from __future__ import annotations

import json

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

SERVER = {
    "url": "http://10.0.0.5:8080/v1",
    "model": "big",
    "requests": 3,
    "retries": 1,
    "failures": 1,
    "reason": "cannot be reached\x1b[31m",
}
REPORT = {"default": "desk", "local": {"measured": False, "command": ""}, "servers": {"desk": SERVER}}


def test_brains_are_listed_with_their_trouble(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/status"] = obj({"brains": REPORT})
    done = run("brains")
    assert done.code == 0
    _, local, desk = done.out.splitlines()
    assert "local" in local
    assert "*" not in local
    assert all(word in desk for word in ("desk *", "10.0.0.5", "(big)", "3 asked, 1 again, 1 failed"))
    assert "\x1b" not in done.out


def test_brains_as_json(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/status"] = obj({"brains": REPORT})
    assert json.loads(run("brains", "--json").out) == REPORT


def test_a_daemon_without_brains_has_one_at_home(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/status"] = obj({"state": "ready"})
    assert "local" in run("brains").out


def test_status_names_each_brain_elsewhere(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/status"] = obj({"state": "ready", "brains": REPORT})
    line = next(line for line in run("status").out.splitlines() if line.startswith("brain desk"))
    assert line.endswith("3 requests, 1 failed; it cannot be reached[31m")
