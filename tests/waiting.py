"""Waiting for threads that a test itself has set going: others of the same name may hang on purpose."""

from __future__ import annotations

import threading
from collections.abc import Collection

SECONDS = 30.0  # a test that waits for longer has failed


def join_new(name: str, before: Collection[threading.Thread]) -> None:
    """Wait for the threads of this name that were not there `before`."""
    for thread in threading.enumerate():
        if thread.name == name and thread not in before:
            thread.join(SECONDS)
            assert not thread.is_alive(), f"{name} has not ended"
