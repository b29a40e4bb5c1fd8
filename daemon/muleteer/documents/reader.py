"""The process that reads documents: an open file in, its text out, one at a time.

Knows its limits and nothing of the daemon: it is handed descriptors, never paths, and it writes no file. What
a file makes it do ends with this process; `child.py` starts another.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import sys
from contextlib import suppress

from muleteer.documents.text import UnreadableError, text_of

# Bytes of address space. The libraries take 190 MB of it; a board with 1 GB survives a file at its worst.
MEMORY = 512 * 2**20
SECONDS = 20  # of processor time for one file: more than `text.SECONDS`, should a library never return
KIND_LIMIT = 16  # bytes of a suffix


def main() -> None:
    """Serve the socket at standard input until its other end is closed."""
    with suppress(OSError):  # a service may be forbidden to change any priority
        os.nice(15)
    for what, limit in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (limit, limit))
    with socket.socket(fileno=sys.stdin.fileno()) as client:
        while True:
            kind, files, _, _ = socket.recv_fds(client, KIND_LIMIT, 1)
            if not files:
                break
            used = resource.getrusage(resource.RUSAGE_SELF)
            end = int(used.ru_utime + used.ru_stime) + SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
            reply = json.dumps(_answer(files[0], kind.decode())).encode()
            with suppress(BrokenPipeError):
                client.sendall(len(reply).to_bytes(4, "big") + reply)


def _answer(fd: int, kind: str) -> dict[str, object]:
    """`text` and whether it is `cut`, or the `problem`."""
    with os.fdopen(fd, "rb") as file:
        try:
            text, cut = text_of(file, kind)
        except UnreadableError as error:
            return {"problem": str(error)}
        except MemoryError:
            return {"problem": "it needs too much memory"}
    return {"text": text, "cut": cut}


if __name__ == "__main__":
    main()
