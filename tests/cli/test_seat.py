"""`muleteer seat`, from the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj, whole

SEAT: dict[str, object] = {
    "role": "follower",
    "drives": False,
    "driver": {"id": "3f7a" * 8, "name": "hall"},
    "term": 7,
    "reason": "hall drives.",
    "since_s": 3725.2,
    "device": {"id": "aaaa" * 8, "name": "shed"},
    "port": 7433,
    "mdns": "",
    "peers": [
        {"id": "3f7a" * 8, "name": "hall", "connected": True, "last_contact_s": 0.42, "enrolled": True},
        {"id": "bbbb" * 8, "name": "attic", "connected": False, "last_contact_s": None, "enrolled": False},
    ],
}


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_who_drives(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/seat"] = obj(SEAT)
    assert lines(run("seat").out) == [
        "drives hall",
        "role here follower, for 1:02:05",
        "term 7",
        "why hall drives.",
        "mDNS announced",
        "device id connection last contact",
        "hall 3f7a3f7a connected 0.4 s ago",
        "attic bbbbbbbb none, not enrolled yet",
    ]
    assert json.loads(run("seat", "--json").out) == SEAT
    daemon.replies["/v1/seat"] = obj(SEAT | {"driver": None, "role": "no majority", "peers": []})
    assert lines(run("seat").out)[0] == "drives nobody is known to"


@pytest.mark.parametrize(("command", "said"), [("take", "asked for"), ("yield", "given away")])
def test_moving_the_seat(run: Run, daemon: ScriptedDaemon, command: str, said: str) -> None:
    daemon.replies[f"/v1/seat/{command}"] = obj(SEAT)
    assert run("seat", command).out == f"The seat was {said}: hall drives.\n"


def test_a_code_is_shown_and_typed(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/seat/invite"] = obj({"code": "3f7a-482913", "seconds": 300.0, "port": 7433})
    shown = run("seat", "join").out
    assert shown == "On the other device, within 5 minutes: muleteer seat join 3f7a-482913\n"
    daemon.replies["/v1/seat/join"] = obj(SEAT)
    assert run("seat", "join", "3f7a-482913", "--address", "10.0.0.5").out == "Joined. Hall drives.\n"
    assert daemon.requests[-1] == {"code": "3f7a-482913", "address": "10.0.0.5"}


def test_a_refusal_is_its_sentence(run: Run, daemon: ScriptedDaemon) -> None:
    refusal = {"error": {"code": "seat", "message": "The code is wrong; show a new one."}}
    daemon.replies["/v1/seat/join"] = whole(409, json.dumps(refusal).encode())
    outcome = run("seat", "join", "3f7a-482913")
    assert (outcome.code, outcome.err) == (1, "Error: The code is wrong; show a new one.\n")


def test_members_come_and_go(run: Run, daemon: ScriptedDaemon) -> None:
    members = [
        {"id": "3f7a" * 8, "name": "hall", "here": True, "connected": False},
        {"id": "bbbb" * 8, "name": "attic", "here": False, "connected": True},
    ]
    daemon.replies["/v1/seat/members"] = obj({"members": members})
    assert lines(run("seat", "members").out)[1:] == ["hall 3f7a3f7a this device", "attic bbbbbbbb connected"]
    daemon.replies["/v1/seat/members"] = obj({"members": []})
    assert run("seat", "members").out.startswith("This device belongs to no household")
    daemon.replies["/v1/seat/forget"] = obj({"forgotten": "attic"})
    assert run("seat", "forget", "bbbb").out == "Forgotten: attic.\n"


def test_changes_are_watched_until_the_daemon_stops(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/seat"] = obj(SEAT)
    events = b'event: seat.changed\ndata: {"reason": "this device drives."}\n\nevent: other\ndata: {}\n\n'
    daemon.replies["/v1/events"] = whole(200, events, "text/event-stream")
    assert run("seat", "watch").out == "hall drives.\nthis device drives.\n"


@pytest.mark.parametrize("body", [{}, {"peers": 5, "members": 5}, {"peers": [{}]}])
def test_an_answer_that_makes_no_sense_is_no_crash(run: Run, daemon: ScriptedDaemon, body: object) -> None:
    for path in ("/v1/seat", "/v1/seat/members"):
        daemon.replies[path] = obj(body)
    for command in (("seat",), ("seat", "members")):
        assert run(*command).code == 0
