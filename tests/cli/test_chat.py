from __future__ import annotations

import os
import pty
import select
import subprocess
import threading
from collections.abc import Callable

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import (
    FINISHED,
    PATIENCE,
    Exchange,
    ScriptedDaemon,
    answer,
    chunk,
    event,
    events,
    obj,
    stream_head,
)

Program = Callable[..., "subprocess.Popen[bytes]"]


def test_history_goes_along_and_an_error_keeps_the_chat(run: Run, daemon: ScriptedDaemon) -> None:
    replies = [
        events(("turn.finished", FINISHED | {"answer": "One.", "calls": []})),
        obj({"error": {"code": "busy", "message": "Too many turns wait."}}, 503),
        answer("Three."),
    ]
    daemon.replies["/v1/sessions/chat"] = obj({})
    daemon.replies["/v1/turns"] = lambda exchange: replies.pop(0)(exchange)
    done = run("chat", stdin=b"first\n\nsecond\n\xff\nthird\n/quit\nnever\n")
    assert (done.code, done.out) == (0, "One.\nThree.\n")
    assert done.err.splitlines() == [
        "Error: Too many turns wait.",
        "The message is not valid UTF-8; check the terminal's encoding.",
    ]
    assert [each.get("message") for each in daemon.requests] == [None, "first", "second", "third"]
    told = [{"role": "user", "content": "first"}, {"role": "assistant", "content": "One."}]
    assert [each.get("history") for each in daemon.requests] == [None, None, told, told]


def test_what_a_tool_returned_is_not_told_again(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/sessions/chat"] = obj({})
    daemon.replies["/v1/turns"] = answer("It is 3:04 in Rome.")
    assert run("chat", stdin=b"time in Rome?\nand in Tokyo?\n").code == 0
    assert daemon.requests[-1]["history"] == [
        {"role": "user", "content": "time in Rome?"},
        {"role": "assistant", "content": "(I looked that up with a tool.)"},
    ]


def test_the_history_sent_is_bounded(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/sessions/chat"] = obj({})
    daemon.replies["/v1/turns"] = answer("Yes.")
    run("chat", stdin=b"again\n" * 25)
    history = daemon.requests[-1]["history"]
    assert isinstance(history, list)
    assert len(history) == 40


def test_trace_follows_each_answer(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/sessions/chat"] = obj({})
    daemon.replies["/v1/turns"] = answer()
    assert run("chat", "--trace", stdin=b"a\nb\n").err.count("plan: @current-time") == 2


def test_no_daemon_is_told_before_the_first_message(run: Run) -> None:
    done = run("chat", stdin=b"hello\n")
    assert done.code == 3
    assert "start one with `muleteer serve`" in done.err


def test_ctrl_c_stops_the_answer_and_keeps_the_chat(program: Program, daemon: ScriptedDaemon) -> None:
    gone = threading.Event()

    def endless(exchange: Exchange) -> None:
        exchange.send(stream_head() + chunk(event("text", {"text": "On and on"})))
        exchange.wait_for_hang_up()
        gone.set()

    def second(exchange: Exchange) -> None:
        rest = event("text", {"text": "Still here."}) + event("turn.finished", FINISHED)
        exchange.send(stream_head() + chunk(rest) + chunk(b""))

    turns = [endless, second]
    daemon.replies["/v1/sessions/chat"] = obj({})
    daemon.replies["/v1/turns"] = lambda exchange: turns.pop(0)(exchange)
    master, slave = pty.openpty()
    with program("chat", stdin=slave, stdout=slave, stderr=slave, preexec_fn=_own_terminal) as process:
        os.close(slave)
        _until(master, "> ")
        os.write(master, b"hello\n")
        _until(master, "On and on")
        os.write(master, b"\x03")
        assert gone.wait(PATIENCE)
        _until(master, "(stopped)\r\n")
        _until(master, "> ")
        os.write(master, b"and now?\n")
        _until(master, "Still here.\r\n")
        _until(master, "> ")
        os.write(master, b"\x04")
        assert process.wait(PATIENCE) == 0
    os.close(master)
    assert daemon.requests[-1] == {"message": "and now?", "stream": True}


def test_ctrl_c_at_the_prompt_gives_up_the_line_and_not_the_chat(run: Run, daemon: ScriptedDaemon) -> None:
    """With a typist in this process: readline loses a signal that comes just as it begins to wait."""
    daemon.replies["/v1/sessions/chat"] = obj({})
    daemon.replies["/v1/turns"] = answer("Still here.")
    done = run("chat", stdin=b"\x03\nhello\n", terminal=True)
    assert (done.code, done.out) == (0, "> > Still here.\n> \n")
    assert "/quit ends the chat" in done.err


def _own_terminal() -> None:
    """Make the terminal on standard input the child's own, so that Ctrl-C reaches it."""
    os.login_tty(0)


def _until(master: int, text: str) -> None:
    """Read the terminal until `text` is the end of something it showed."""
    seen = b""
    while not seen.decode(errors="replace").endswith(text):
        assert select.select([master], [], [], PATIENCE)[0], seen
        seen += os.read(master, 1)
