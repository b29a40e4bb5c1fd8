from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import (
    FINISHED,
    LEVELS,
    PATIENCE,
    Exchange,
    Reply,
    ScriptedDaemon,
    answer,
    chunk,
    event,
    events,
    listening,
    obj,
    stream_head,
    whole,
)

Program = Callable[..., "subprocess.Popen[bytes]"]
FAILED: dict[str, object] = {"turn": "t1", "code": "", "message": "Say less.", "status": 413, "levels": []}


def test_prints_the_answer_and_nothing_else(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer("Öğlen.", ["Öğ", "len."])
    done = run("ask", "what", "time")
    assert (done.code, done.out, done.err) == (0, "Öğlen.\n", "")
    assert daemon.requests == [{"message": "what time", "stream": True}]


def test_json_is_one_object_with_the_documented_fields(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer()
    done = run("ask", "--json", "time?")
    assert done.code == 0
    assert json.loads(done.out) == {"dropped": 0, "brains": [], **FINISHED}


def test_a_session_has_the_name_that_it_is_given(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer()
    assert run("ask", "--session", "party", "time?").code == 0
    assert "history" not in daemon.requests[0], "the daemon has it"
    assert daemon.sessions == ["party"]


def test_trace_prints_the_ledger_beside_the_answer(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer()
    done = run("ask", "--trace", "time?")
    assert done.out == "It is noon.\n"
    assert "plan: @current-time" in done.err
    assert "call: current_time ok 2 ms" in done.err
    assert done.err.endswith("first word after 15 ms, all after 20 ms\n")
    assert ["plan", "40", "30", "10", "3", "12"] in [line.split() for line in done.err.splitlines()]


def test_a_dash_reads_standard_input(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer()
    assert run("ask", "-", stdin="saat kaç?\n".encode()).code == 0
    assert daemon.requests[0]["message"] == "saat kaç?\n"


@pytest.mark.parametrize(
    ("args", "stdin", "sentence"),
    [
        (["-"], b"\xff\xfe", "not valid UTF-8"),
        (["a\udcff"], b"", "not valid UTF-8"),
        (["  "], b"", "is empty"),
        (["-"], b"", "is empty"),
        (["-"], b"a" * (1 << 20) + b"a", "larger than 1048576 bytes"),
        ([], b"", "is empty"),
        (["--jsn", "x"], b"", "No such option"),
    ],
)
def test_a_message_that_cannot_be_sent_is_wrong_usage(
    run: Run, daemon: ScriptedDaemon, args: list[str], stdin: bytes, sentence: str
) -> None:
    done = run("ask", *args, stdin=stdin)
    assert done.code == 2
    assert sentence in done.err
    assert daemon.requests == []


def test_invalid_utf8_on_the_command_line(program: Program, daemon: ScriptedDaemon) -> None:
    with program("ask", b"\xff", stderr=subprocess.PIPE) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert b"not valid UTF-8" in err


def test_trace_shows_the_levels_of_a_failed_turn(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = events(("turn.failed", FAILED | {"levels": LEVELS}))
    done = run("ask", "--trace", "x")
    assert done.code == 1
    assert ["all", "40", "30", "10", "3", "12"] in [line.split() for line in done.err.splitlines()]
    assert done.err.endswith("Error: Say less.\n")


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        *((code, 1) for code in ("too_long", "over_budget", "internal", "of_a_later_version")),
        *((code, 4) for code in ("busy", "engine", "engine_died", "model", "shutting_down")),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_what_the_daemon_reports(
    run: Run, daemon: ScriptedDaemon, code: str, exit_code: int, streamed: bool
) -> None:
    refused = obj({"error": {"code": code, "message": "Say less."}}, 503)
    daemon.replies["/v1/turns"] = events(("turn.failed", FAILED | {"code": code})) if streamed else refused
    done = run("ask", "x")
    assert (done.code, done.out, done.err) == (exit_code, "", "Error: Say less.\n")
    done = run("ask", "--json", "x")
    assert done.code == exit_code
    assert json.loads(done.out) == {"error": {"code": code, "message": "Say less."}}


def test_a_loading_daemon_is_waited_for(run: Run, daemon: ScriptedDaemon) -> None:
    refused = obj({"error": {"code": "loading", "message": "Not ready yet."}}, 503)
    replies = iter([refused, refused, answer("Ready now.")])
    daemon.replies["/v1/turns"] = lambda exchange: next(replies)(exchange)
    done = run("ask", "x")
    said = "Waiting for the model, which is still loading ...\n"
    assert (done.code, done.out, done.err) == (0, "Ready now.\n", said)
    assert len(daemon.requests) == 3


def test_a_terminal_sees_what_is_waited_for(program: Program, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = events(
        ("turn.started", {"turn": "t1"}),
        ("plan", {"handles": ["current-time"]}),
        ("call.started", {"tool": "current_time\x1b[2J", "arguments": {}}),
        ("turn.finished", FINISHED),
    )
    master, slave = pty.openpty()
    with program("ask", "x", stdout=subprocess.PIPE, stderr=slave) as process:
        os.close(slave)
        out, _ = process.communicate(timeout=PATIENCE)
    shown = os.read(master, 4096).decode()
    os.close(master)
    assert out == b"It is noon.\n"
    steps = ["planning ...", "preparing current-time ...", "calling current_time[2J ..."]
    assert shown == "".join(f"\r\x1b[K{step}" for step in steps) + "\r\x1b[K"


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_standard_stream_leads_nowhere(
    program: Program, daemon: ScriptedDaemon, closed: int
) -> None:
    daemon.replies["/v1/turns"] = answer()
    with program("ask", "x", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(closed)) as process:
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out == (b"" if closed == 1 else b"It is noon.\n")


def test_a_full_disk_under_the_output_is_one_sentence(program: Program, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer()
    with (
        Path("/dev/full").open("wb") as full,
        program("ask", "x", stdout=full, stderr=subprocess.PIPE) as process,
    ):
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err == b"Error: Cannot read or write: No space left on device.\n"


def test_a_daemon_that_hangs_up_in_the_middle(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = events(("text", {"text": "It is"}), end=False)
    done = run("ask", "--json", "x")
    assert done.code == 1
    assert json.loads(done.out)["error"]["code"] == "connection_lost"


def test_a_stream_that_ends_without_an_end_of_the_turn(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = events(("text", {"text": "It is"}))
    done = run("ask", "x")
    assert done.code == 1
    assert "closed the connection in the middle" in done.err


@pytest.mark.parametrize(
    "reply",
    [
        lambda exchange: exchange.send(b"SSH-2.0-OpenSSH_9.2\r\n"),
        lambda exchange: exchange.send(stream_head() + chunk(b"data: {]\n\n")),
        lambda exchange: exchange.send(stream_head() + chunk(b"data: 5\n\n")),
        lambda exchange: exchange.send(stream_head() + chunk(b"data: \xff\n\n")),
        whole(404, b"<html>", "text/html"),
        whole(500, b"[]"),
        whole(500, b"{}"),
        events(("turn.finished", {"answer": "no levels"})),
        events(("turn.finished", FINISHED | {"levels": [3]})),
        events(("turn.finished", FINISHED | {"levels": [LEVELS[0] | {"prompt": "many"}]})),
        events(("turn.finished", FINISHED | {"calls": [{"tool": "timer"}]})),
        events(("turn.failed", {"message": "no code"})),
    ],
)
def test_a_server_that_answers_garbage(run: Run, daemon: ScriptedDaemon, reply: Reply) -> None:
    daemon.replies["/v1/turns"] = reply
    done = run("ask", "x")
    assert done.code == 3
    assert done.err.startswith(("Error: What answers on", "Error: The daemon sent a turn"))
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["missing", "stale", "file", "far"])
def test_no_daemon_says_how_to_start_one(run: Run, tmp_path: Path, kind: str) -> None:
    socket = tmp_path / "nobody"
    if kind == "stale":
        with listening(socket):
            pass  # it leaves its file behind
    elif kind == "file":
        socket.write_text("")
    elif kind == "far":
        socket = socket / ("x" * 200)
    done = run("ask", "--socket", str(socket), "x")
    assert done.code == 3
    assert str(socket) in done.err
    wanted = "choose another with --socket" if kind == "far" else f"`muleteer serve --socket {socket}`"
    assert wanted in done.err


def test_the_usual_socket_needs_no_option_to_start(run: Run, tmp_path: Path) -> None:
    done = run("ask", "x")
    usual = tmp_path / ".local/state/muleteer/muleteer.sock"
    assert done.err == f"Error: No daemon answers on {usual}; start one with `muleteer serve`.\n"


def test_the_settings_file_names_the_socket(
    run: Run, daemon: ScriptedDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MULETEER_SOCKET")
    daemon.replies["/v1/turns"] = answer()
    (tmp_path / "my.toml").write_text('gateway.socket = "s"')
    monkeypatch.setenv("MULETEER_CONFIG", str(tmp_path / "my.toml"))
    assert run("ask", "x").out == "It is noon.\n"


def test_control_characters_go_to_a_file_and_not_to_a_terminal(
    run: Run, program: Program, daemon: ScriptedDaemon
) -> None:
    evil = "a\x1b]0;title\x07b\x9b31mc\u202ed\te\n"
    daemon.replies["/v1/turns"] = answer(evil, ["a\x1b", "]0;title\x07b\x9b31mc\u202ed\te\n"])
    assert run("ask", "x").out == evil + "\n"
    waited = "\r\x1b[Kplanning ...\r\x1b[K"
    assert on_terminal(program, "ask", "x") == f"{waited}a]0;titleb31mcd\te\n\n"


def test_a_terminal_sees_the_answer_as_it_comes(program: Program, daemon: ScriptedDaemon) -> None:
    seen = threading.Event()

    def reply(exchange: Exchange) -> None:
        exchange.send(stream_head() + chunk(event("text", {"text": "It is"})))
        assert seen.wait(PATIENCE)
        rest = event("text", {"text": " noon."}) + event("turn.finished", FINISHED)
        exchange.send(chunk(rest) + chunk(b""))

    daemon.replies["/v1/turns"] = reply
    assert on_terminal(program, "ask", "x", on_text=lambda text: seen.set()) == "It is noon.\n"


def test_ctrl_c_stops_the_turn(program: Program, daemon: ScriptedDaemon) -> None:
    running = threading.Event()
    gone = threading.Event()

    def reply(exchange: Exchange) -> None:
        exchange.send(stream_head() + chunk(event("turn.started", {"turn": "t1"})))
        running.set()
        exchange.wait_for_hang_up()
        gone.set()

    daemon.replies["/v1/turns"] = reply
    with program("ask", "x", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert running.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert gone.wait(PATIENCE)


def test_a_reader_that_went_away_ends_it_quietly(program: Program, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer("x" * 100_000)
    reading, writing = os.pipe()
    os.close(reading)
    with program("ask", "x", stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (1, b"")


def on_terminal(program: Program, *args: str, on_text: Callable[[str], None] = lambda text: None) -> str:
    """What a command writes to a terminal of its own, line ends as they were written."""
    master, slave = pty.openpty()
    with program(*args, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        seen = b""
        while piece := _read(master):
            seen += piece
            on_text(seen.decode())
        assert process.wait(PATIENCE) == 0
    os.close(master)
    return seen.decode().replace("\r\n", "\n")


def _read(master: int) -> bytes:
    try:
        return os.read(master, 4096)
    except OSError:  # EIO: the other end is closed
        return b""


def test_a_brain_is_asked_by_its_name_and_told_in_the_trace(run: Run, daemon: ScriptedDaemon) -> None:
    used = [{"brain": "desk", "reason": ""}, {"brain": "local", "reason": "The brain desk cut off."}]
    daemon.replies["/v1/turns"] = events(
        ("turn.started", {"turn": "t1"}), ("turn.finished", {**FINISHED, "brains": used})
    )
    done = run("ask", "--brain", "desk", "--trace", "time?")
    assert done.code == 0, done.err
    assert daemon.requests[0]["brain"] == "desk"
    assert done.err.splitlines()[:2] == ["brain: desk", "brain: local (The brain desk cut off.)"]
