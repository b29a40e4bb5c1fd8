"""Turning skills and tools on and off, and renaming them, by the commands."""

from __future__ import annotations

import json

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

TIMER = {"name": "timer", "handle": "timer", "on_disk": "timer", "state": "enabled", "reason": ""}


def test_a_tool_is_turned_off_and_on(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/tools/timer"] = obj(TIMER | {"state": "disabled", "reason": "Turned off."})
    assert run("tools", "disable", "@timer").out == "@timer is disabled.\n"
    daemon.replies["/v1/tools/timer"] = obj(TIMER)
    assert run("tools", "enable", "timer").out == "@timer is enabled.\n"
    assert daemon.requests == [{"enabled": False}, {"enabled": True}]


def test_what_cannot_be_used_is_not_called_enabled(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/tools/timer"] = obj(TIMER | {"state": "disabled", "reason": "it is broken."})
    done = run("tools", "enable", "timer")
    assert done.code == 1
    assert "@timer cannot be used: it is broken." in done.err


def test_a_skill_is_renamed(run: Run, daemon: ScriptedDaemon) -> None:
    entry = {"name": "news", "handle": "news", "on_disk": "daily-brief", "state": "enabled"}
    daemon.replies["/v1/skills/daily-brief"] = obj(entry)
    assert run("skills", "rename", "daily-brief", "news").out == "@news (@daily-brief on disk) is enabled.\n"
    assert json.loads(run("skills", "rename", "daily-brief", "news", "--json").out) == entry
    assert daemon.requests == [{"name": "news"}] * 2


def test_what_the_daemon_refuses_is_said(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/tools/a%2Fb"] = obj(
        {"error": {"code": "bad_request", "message": "There is none."}}, 400
    )
    done = run("tools", "disable", "a/b")
    assert done.code == 1
    assert "Error: There is none." in done.err


def test_options_before_a_subcommand_are_not_lost_silently(run: Run) -> None:
    done = run("tools", "--json", "enable", "timer")
    assert done.code == 2
    assert "Put the options after enable, not before it." in done.err
