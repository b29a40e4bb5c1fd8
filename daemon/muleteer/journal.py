"""Log records to systemd's journal by its own protocol, so that their fields can be searched.

A record is one datagram of `NAME=value` lines; a value with line ends comes with its length before it
(systemd.io/JOURNAL_NATIVE_PROTOCOL). One that is too large for a datagram is cut, with a mark. The two
libraries for this need libsystemd and its headers to be built, and this is what would be used of them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

SOCKET = Path("/run/systemd/journal/socket")
LARGEST = 64 << 10  # bytes of one field; a datagram holds some 200 KiB
CUT = " [...]"
PREFIX = "MULETEER_"
IDENTIFIER = "muleteer"
OWN_ATTRIBUTES = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
# syslog(3)
PRIORITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}


class JournalHandler(logging.Handler):
    """Sends each record with its message, level, logger, and `extras` by name (`turn` is MULETEER_TURN);
    `device`, once it is known, stands in all of them. Raises `OSError` where there is no journal."""

    device = ""

    def __init__(self, path: Path = SOCKET) -> None:
        super().__init__()
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        try:
            self._socket.connect(self._path)
        except BaseException:
            self._socket.close()
            raise

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._socket.send(encode(_fields(record, self.device)))
        except OSError:  # the journal restarts: its socket is there again at once
            with contextlib.suppress(OSError):
                self._socket.connect(self._path)
                self._socket.send(encode(_fields(record, self.device)))

    def close(self) -> None:
        self._socket.close()
        super().close()


def encode(fields: Mapping[str, str]) -> bytes:
    """Fields as the journal reads them."""
    return b"".join(_pieces(fields))


def _pieces(fields: Mapping[str, str]) -> Iterator[bytes]:
    for name, value in fields.items():
        content = value.encode(errors="replace")
        if len(content) > LARGEST:
            content = content[:LARGEST] + CUT.encode()
        if b"\n" in content:
            yield b"%b\n%b%b\n" % (name.encode(), struct.pack("<Q", len(content)), content)
        else:
            yield b"%b=%b\n" % (name.encode(), content)


def _fields(record: logging.LogRecord, device: str) -> dict[str, str]:
    fields = {
        "MESSAGE": f"{record.name}: {record.getMessage()}",
        "PRIORITY": str(PRIORITIES.get(record.levelno, 6)),
        "SYSLOG_IDENTIFIER": IDENTIFIER,
        "LOGGER": record.name,
        "CODE_FILE": record.pathname,
        "CODE_LINE": str(record.lineno),
        "TID": str(record.thread or os.getpid()),
    }
    if device:
        fields[f"{PREFIX}DEVICE"] = device
    if record.exc_info:
        fields["MULETEER_TRACEBACK"] = logging.Formatter().formatException(record.exc_info)
        fields["MESSAGE"] += f"\n{fields['MULETEER_TRACEBACK']}"
    extras = {name: value for name, value in record.__dict__.items() if name not in OWN_ATTRIBUTES}
    return fields | {_name(name): str(value) for name, value in extras.items()}


def _name(name: str) -> str:
    """A field of ours: the journal takes A-Z, digits and underscores, at most 64."""
    return PREFIX + re.sub(r"[^A-Z0-9_]", "_", name.upper())[: 64 - len(PREFIX)]
