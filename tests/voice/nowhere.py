"""An empty network namespace for one thread: no address, not even that of the device itself. Needs root."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
MISSING = "an empty network namespace needs root" if os.geteuid() else ""


@contextmanager
def nowhere() -> Iterator[None]:
    """This thread, and what it starts meanwhile, reach nobody; sockets of files work as ever."""
    with Path("/proc/thread-self/ns/net").open("rb") as here:
        _call("unshare", NEW_NETWORK)
        try:
            yield
        finally:
            _call("setns", here.fileno(), NEW_NETWORK)


def _call(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name} failed")


def interfaces() -> list[str]:
    """Of this thread's network."""
    lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    return [line.partition(":")[0].strip() for line in lines[2:]]
