"""Reading documents in another process, which is ended when it takes too long.

Blocking: for threads. A process serves many files and is replaced after one that it could not read, since
nobody knows what that left behind.
"""

from __future__ import annotations

import errno
import json
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from muleteer.documents.reader import SECONDS

READER = (sys.executable, "-P", "-m", "muleteer.documents.reader")
"""`-P`: the current folder must not be able to shadow a module of the reader."""
PATIENCE = SECONDS + 10.0  # seconds for one file with the start of the process, on a board that is busy
REPLY_LIMIT = 4 * 2**20  # bytes; JSON escapes each of the text's characters as six bytes, twelve at the worst
END_SECONDS = 2.0  # for a process that was killed
FILES_EACH = 500  # files that one process reads; what libraries leave in memory goes with it


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a file, and whether it is only the beginning; or the `problem` that completes the sentence
    "... cannot be read: "."""

    text: str = ""
    cut: bool = False
    problem: str = ""


class Child:
    """At most one process, started when it is needed. `read` is for one thread at a time."""

    def __init__(self, command: tuple[str, ...] = READER, seconds: float = PATIENCE) -> None:
        self._command, self._seconds = command, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._served = 0
        self._stopped = False
        self._lock = threading.Lock()  # of the process and its socket

    def read(self, file: BinaryIO, kind: str) -> Extract:
        """The text of an open file. Raises `OSError` when there can be no process."""
        connection = self._connected()
        try:
            socket.send_fds(connection, [kind.encode()], [file.fileno()])
            length = int.from_bytes(_received(connection, 4), "big")
            if length > REPLY_LIMIT:
                raise EOFError
            reply = json.loads(_received(connection, length))
        except TimeoutError:
            self.rest()
            return Extract(problem=f"it takes longer than {self._seconds:.0f} seconds")
        except (EOFError, OSError, ValueError):
            self.rest()
            return Extract(problem="the process that read it broke down")
        self._served += 1
        if "problem" in reply or self._served >= FILES_EACH:
            self.rest()
        return Extract(**reply)

    def rest(self) -> None:
        """End the process, whatever it does; the next file starts another. For any thread."""
        with self._lock:
            self._end()

    def stop(self) -> None:
        """End the process for good. For any thread."""
        with self._lock:
            self._stopped = True
            self._end()

    def _connected(self) -> socket.socket:
        with self._lock:
            if self._stopped:
                raise OSError(errno.ESHUTDOWN, "documents are no longer read")
            if self._socket is None:
                ours, theirs = socket.socketpair()
                with theirs:
                    self._process = subprocess.Popen(
                        self._command,
                        stdin=theirs.fileno(),
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                ours.settimeout(self._seconds)
                self._socket, self._served = ours, 0
            return self._socket

    def _end(self) -> None:
        process, self._process = self._process, None
        connection, self._socket = self._socket, None
        if process is not None:
            process.kill()
            with suppress(subprocess.TimeoutExpired):  # it waits for a disk that does not answer
                process.wait(END_SECONDS)
        if connection is not None:
            connection.close()


def _received(connection: socket.socket, length: int) -> bytes:
    """So many bytes. Raises `EOFError` when the other end is closed before, `TimeoutError` when it waits."""
    parts = bytearray()
    while len(parts) < length:
        part = connection.recv(min(length - len(parts), 2**16))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
