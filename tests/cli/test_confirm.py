"""A turn that ends with a question: asked on a terminal, printed elsewhere, answered by another command."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import FINISHED, Reply, ScriptedDaemon, answer, events, obj

ASKED: dict[str, object] = {
    "turn": "t1",
    "tool": "switch",
    "effect": "physical",
    "arguments": {"device": "lamp"},
    "question": 'Shall I call switch with device "lamp"?',
    "seconds": 300.0,
    "handles": ["switch"],
    "calls": [],
    "levels": [],
    "ms": 9.0,
}
CONFIRM = "/v1/turns/t1/confirm"
CHAT = "/v1/sessions/chat"


def question(**changed: object) -> Reply:
    return events(("turn.started", {"turn": "t1"}), ("confirm", ASKED | changed))


@pytest.mark.parametrize(("typed", "yes"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_a_terminal_is_asked_and_no_is_the_default(
    run: Run, daemon: ScriptedDaemon, typed: bytes, yes: bool
) -> None:
    daemon.replies |= {"/v1/turns": question(), CONFIRM: answer("Done.")}
    done = run("ask", "lamp on", stdin=typed, terminal=True)
    assert (done.code, done.out) == (0, "Done.\n")
    assert 'switch with device "lamp"? [y/N]' in done.err
    assert daemon.requests[1:] == [{"confirm": yes, "stream": True}]


def test_without_a_terminal_the_question_is_printed_and_nothing_is_done(
    run: Run, daemon: ScriptedDaemon
) -> None:
    daemon.replies["/v1/turns"] = question()
    done = run("ask", "-", stdin=b"lamp on")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith('Shall I call switch with device "lamp"?'), "a question is no error"
    assert "Nothing was done. Answer within 5 minutes with `muleteer confirm t1`" in done.err
    assert len(daemon.requests) == 1


def test_json_never_asks(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = question()
    done = run("ask", "--json", "lamp on", stdin=b"y\n", terminal=True)
    assert done.code == 1
    said = json.loads(done.out)
    assert (said["error"]["code"], said["confirm"]) == ("confirm", ASKED)


def test_a_question_cannot_move_the_cursor(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies |= {"/v1/turns": question(question="on\x1b[2K?"), CONFIRM: answer()}
    assert "\x1b" not in run("ask", "x", stdin=b"n\n", terminal=True).err
    assert "\x1b" not in run("ask", "x").err


def test_end_of_input_at_the_question_is_no_yes(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = question()
    assert run("ask", "lamp on", stdin=b"", terminal=True).code == 130
    assert len(daemon.requests) == 1


def test_the_command_answers_a_question(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies[CONFIRM] = answer("The lamp is on.")
    assert run("confirm", "t1").out == "The lamp is on.\n"
    assert run("confirm", "--no", "t1").code == 0
    assert json.loads(run("confirm", "--json", "t1").out) == FINISHED | {
        "answer": "The lamp is on.",
        "brains": [],
        "dropped": 0,
    }
    assert [request["confirm"] for request in daemon.requests] == [True, False, True]


def test_a_question_that_is_not_open_is_one_sentence(run: Run, daemon: ScriptedDaemon) -> None:
    error = {"error": {"code": "not_open", "message": "No question of that turn is open."}}
    daemon.replies["/v1/turns/..%2Fx/confirm"] = obj(error, 404)
    done = run("confirm", "../x")
    assert (done.code, done.err) == (1, "Error: No question of that turn is open.\n")
    assert json.loads(run("confirm", "--json", "../x").out) == error


def test_a_chat_asks_and_goes_on(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies |= {"/v1/turns": question(), CONFIRM: answer("Done."), CHAT: obj({"messages": []})}
    done = run("chat", stdin=b"lamp on\ny\n/quit\n", terminal=True)
    assert done.code == 0
    assert "Done." in done.out
    assert [request.get("confirm") for request in daemon.requests] == [None, None, True]


def test_a_chat_in_a_pipe_prints_the_question_and_goes_on(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies |= {"/v1/turns": question(), CHAT: obj({"messages": []})}
    done = run("chat", stdin=b"lamp on\nlamp off\n")
    assert (done.code, done.err.count("Nothing was done.")) == (0, 2)
