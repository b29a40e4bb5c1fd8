"""How log records look: one line each, to standard error, `logger: message key=value`; in systemd's journal
fields.

Knows where standard error goes (terminal, journal, file); `journal.py` knows the journal. Not what is
worth logging. Rule for all callers: what people wrote and what tools returned is logged at debug only.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from pathlib import Path
from typing import Literal, TextIO

from muleteer.journal import OWN_ATTRIBUTES, SOCKET, JournalHandler

Level = Literal["debug", "info", "warning", "error"]
Place = Literal["terminal", "journal", "plain"]

# sd-daemon(3): the journal reads a record's priority from such a beginning.
JOURNAL_PRIORITY = {logging.DEBUG: "<7>", logging.INFO: "<6>", logging.WARNING: "<4>", logging.ERROR: "<3>"}


def setup(level: Level = "info", stream: TextIO | None = None, journal: Path = SOCKET) -> None:
    """Send every record to `stream` (standard error), or to the `journal` if that is where the stream leads.
    Ours from `level`, other libraries' from warning on.

    May be called again, to change the level.
    """
    stream = stream or sys.stderr
    root = logging.getLogger()
    for before in root.handlers:
        if isinstance(before, JournalHandler):
            before.close()
    root.handlers[:] = [_handler(stream, journal)]
    root.setLevel(logging.WARNING)
    logging.getLogger("muleteer").setLevel(level.upper())


def _handler(stream: TextIO, journal: Path) -> logging.Handler:
    place = where(stream)
    if place == "journal":
        with contextlib.suppress(OSError):  # a sandbox without its socket: the stream leads there, too
            return JournalHandler(journal)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(place))
    return handler


def where(stream: TextIO) -> Place:
    """Whether `stream` is a terminal, the journal (by JOURNAL_STREAM's device and inode) or neither."""
    if stream.isatty():
        return "terminal"
    journal = os.environ.get("JOURNAL_STREAM", "")
    try:
        status = os.fstat(stream.fileno())
    except OSError:  # a stream in memory has no descriptor
        return "plain"
    return "journal" if journal == f"{status.st_dev}:{status.st_ino}" else "plain"


class LineFormatter(logging.Formatter):
    """One line per record. A traceback is folded into it, or follows it on a terminal."""

    def __init__(self, place: Place) -> None:
        super().__init__(datefmt="%H:%M:%S" if place == "terminal" else "%Y-%m-%dT%H:%M:%S%z")
        self._place = place

    def format(self, record: logging.LogRecord) -> str:
        extras = {key: value for key, value in record.__dict__.items() if key not in OWN_ATTRIBUTES}
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        if trace and self._place != "terminal":
            extras["traceback"] = trace
        fields = "".join(f" {key}={_quoted(value)}" for key, value in extras.items())
        line = f"{record.name}: {_one_line(record.getMessage())}{fields}"
        if self._place == "journal":
            return JOURNAL_PRIORITY.get(record.levelno, "<2>") + line
        stamped = f"{self.formatTime(record, self.datefmt)} {record.levelname:<7} {line}"
        return f"{stamped}\n{trace}" if trace and self._place == "terminal" else stamped


def _quoted(value: object) -> str:
    """A value that reads back as one word; text with spaces, quotes or control characters is JSON."""
    text = str(value)
    plain = text.isprintable() and text and not any(mark in text for mark in " \"='")
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())


def _one_line(text: str) -> str:
    """Control characters, line ends among them, as escapes: a message cannot forge a record."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
