"""`muleteer tools call`: what is printed, what is asked, and how it ends."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

LISTED = {"tools": [{"name": "clock", "effect": "read"}, {"name": "lamp", "effect": "physical"}]}


def outcome(**fields: object) -> dict[str, object]:
    return {"tool": "clock", "status": "ok", "text": "It is noon.", "payload": None, "ms": 1.5} | fields


@pytest.fixture(autouse=True)
def _listed(daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/tools"] = obj(LISTED)


@pytest.mark.parametrize(
    ("status", "code"), [("ok", 0), ("error", 1), ("empty", 5), ("unavailable", 6), ("odd", 1)]
)
def test_the_exit_code_says_the_status(run: Run, daemon: ScriptedDaemon, status: str, code: int) -> None:
    daemon.replies["/v1/tools/clock/call"] = obj(outcome(status=status))
    done = run("tools", "call", "clock", '{"place": "Rome"}')
    assert (done.code, done.out) == (code, f"{status} (1.5 ms): It is noon.\n")
    assert daemon.requests[-1] == {"arguments": {"place": "Rome"}, "confirm": False}


def test_payload_and_sources_are_printed(run: Run, daemon: ScriptedDaemon) -> None:
    reply = outcome(payload={"kind": "notes", "items": ["one", "two"]}, sources=["page 1"])
    daemon.replies["/v1/tools/clock/call"] = obj(reply)
    assert run("tools", "call", "@clock").out.endswith("- one\n- two\nfrom: page 1\n")
    assert json.loads(run("tools", "call", "clock", "--json").out) == reply


def test_what_acts_is_asked_about(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/tools/lamp/call"] = obj(outcome(tool="lamp"))
    refused = run("tools", "call", "lamp", stdin=b"n\n")
    assert refused.code == 130
    assert "lamp acts on a real device. Call it with {}?" in refused.err
    assert run("tools", "call", "lamp", stdin=b"y\n").code == 0
    assert run("tools", "call", "lamp", "--yes").code == 0
    assert daemon.requests[-1] == {"arguments": {}, "confirm": True}


@pytest.mark.parametrize(("given", "sentence"), [("{", "it is not JSON"), ("[1]", "it must be an object")])
def test_arguments_must_be_an_object(run: Run, given: str, sentence: str) -> None:
    done = run("tools", "call", "clock", given)
    assert done.code == 2
    assert sentence in done.err
