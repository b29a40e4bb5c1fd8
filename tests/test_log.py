from __future__ import annotations

import io
import json
import logging
import os
import pty
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer import log

OURS = logging.getLogger("muleteer.part")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("muleteer")
    before = (list(root.handlers), root.level, ours.level)
    yield
    root.handlers[:], level, own_level = before
    root.setLevel(level)
    ours.setLevel(own_level)


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_one_line_with_time_level_name_and_fields(stream: io.StringIO) -> None:
    log.setup("info", stream)
    OURS.info("Turn %s done", "t1", extra={"ms": 12, "tool": "timer", "why": 'a "b"', "empty": ""})
    line = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} INFO    muleteer\.part: Turn t1 done "
    fields = re.escape(r'ms=12 tool=timer why="a \"b\"" empty=""')
    assert re.fullmatch(line + fields + "\n", stream.getvalue())


def test_a_message_cannot_forge_a_record_or_move_the_cursor(stream: io.StringIO) -> None:
    log.setup("info", stream)
    OURS.info("a\nforged: İ\x1b[2J\u2028", extra={"said": "b\r\nc\x9b"})
    assert stream.getvalue().count("\n") == 1
    assert r"a\nforged: İ\x1b[2J\u2028" in stream.getvalue()
    assert r'said="b\r\nc\u009b"' in stream.getvalue()


def test_a_traceback_is_folded_into_the_line(stream: io.StringIO) -> None:
    log.setup("info", stream)
    try:
        raise ValueError("too bad")
    except ValueError:
        OURS.exception("Failed")
    (line,) = stream.getvalue().splitlines()
    trace = json.loads(line.partition("traceback=")[2])
    assert trace.startswith("Traceback (most recent call last):\n")
    assert trace.endswith("ValueError: too bad")


def test_levels_are_ours_and_other_libraries_only_warn(stream: io.StringIO) -> None:
    log.setup("debug", stream)
    OURS.debug("shown")
    logging.getLogger("httpcore").info("hidden")
    logging.getLogger("httpcore").warning("told")
    log.setup("error", stream)
    OURS.warning("hidden")
    assert [line.rpartition(": ")[2] for line in stream.getvalue().splitlines()] == ["shown", "told"]


def test_the_journal_gets_priorities_and_no_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    with path.open("w") as journal:
        status = os.fstat(journal.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{status.st_dev}:{status.st_ino}")
        log.setup("debug", journal, tmp_path / "no-socket")
        OURS.debug("d")
        OURS.info("i", extra={"n": 1})
        OURS.warning("w")
        OURS.error("e")
        OURS.critical("c")
    assert path.read_text().splitlines() == [
        "<7>muleteer.part: d",
        "<6>muleteer.part: i n=1",
        "<4>muleteer.part: w",
        "<3>muleteer.part: e",
        "<2>muleteer.part: c",
    ]


def test_a_redirected_stream_under_the_journal_is_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNAL_STREAM", "1:1")
    with (tmp_path / "file").open("w") as file:
        assert log.where(file) == "plain"


def test_a_terminal_gets_short_times_and_the_traceback_below() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        log.setup("info", terminal)
        try:
            raise ValueError("too bad")
        except ValueError:
            OURS.exception("Failed")
        terminal.flush()
        lines = os.read(master, 4096).decode().split("\r\n")
    os.close(master)
    assert re.fullmatch(r"\d\d:\d\d:\d\d ERROR   muleteer\.part: Failed", lines[0])
    assert lines[-2:] == ["ValueError: too bad", ""]


def test_the_journal_gets_fields_by_its_own_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal,
        (tmp_path / "stream").open("w") as stream,
    ):
        journal.bind(str(tmp_path / "journal"))
        status = os.fstat(stream.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{status.st_dev}:{status.st_ino}")
        monkeypatch.setattr("muleteer.journal.JournalHandler.device", "d1")
        log.setup("info", stream, tmp_path / "journal")
        OURS.warning("a\nPRIORITY=0", extra={"turn": "t1", "why not": "b"})
        log.setup("info", stream, tmp_path / "no-socket")  # closes it
        said = journal.recv(65536)
    assert b"PRIORITY=4\n" in said
    assert b"\nMULETEER_TURN=t1\n" in said
    assert b"\nMULETEER_WHY_NOT=b\n" in said
    assert b"\nMULETEER_DEVICE=d1\n" in said
    message = b"muleteer.part: a\nPRIORITY=0"
    assert said.startswith(b"MESSAGE\n" + len(message).to_bytes(8, "little") + message + b"\n")
