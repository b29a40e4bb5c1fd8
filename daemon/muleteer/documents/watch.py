"""What changed below a folder, told by the kernel.

Knows watchdog, and turns its events into the folders to list again. A folder that is not there yet, was
unmounted or replaced cannot be watched: `keeper.py` looks at that itself, and asks again.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

log = logging.getLogger(__name__)

# Each write of a file that is being written would be an event; its end is one.
EVENTS: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileMovedEvent,
]


class Watch:
    """Calls `changed(root, folder, deep)`, from a thread of its own, with the folder relative to the root (""
    is the root itself); `deep` when all below it may have changed, too. Its methods block: for threads."""

    def __init__(self, changed: Callable[[Path, str, bool], None]) -> None:
        self._changed = changed
        self._observer: BaseObserver | None = None
        self._watched: dict[Path, ObservedWatch] = {}
        self._lock = threading.Lock()

    def begin(self, root: Path) -> str:
        """Watch the folder that is at this path now. Returns why it cannot be watched, or nothing."""
        with self._lock:
            self._end(root)
            try:
                if self._observer is None:
                    self._observer = Observer()
                    self._observer.start()
                real = os.path.realpath(root)  # the root may be a link; those below it are not followed
                self._watched[root] = self._observer.schedule(
                    _Handler(root, real, self._changed), real, recursive=True, event_filter=EVENTS
                )
            except (OSError, RuntimeError) as error:  # most often: no more watches for this user
                return f"it cannot be watched ({getattr(error, 'strerror', None) or error})"
        return ""

    def end(self, root: Path) -> None:
        with self._lock:
            self._end(root)

    def close(self) -> None:
        """Stop watching; returns when the threads have ended."""
        with self._lock:
            observer, self._observer = self._observer, None
            self._watched.clear()
        if observer is not None:
            observer.stop()
            observer.join()

    def _end(self, root: Path) -> None:
        watched = self._watched.pop(root, None)
        if watched is not None and self._observer is not None:
            self._observer.unschedule(watched)


class _Handler(FileSystemEventHandler):
    def __init__(self, root: Path, real: str, changed: Callable[[Path, str, bool], None]) -> None:
        self._root, self._real, self._changed = root, real, changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in filter(None, (event.src_path, event.dest_path)):
            below = os.path.relpath(str(path), self._real)
            if below == "." or any(name.startswith(".") for name in below.split(os.sep)):
                continue
            self._changed(self._root, os.path.dirname(below), False)
            if event.is_directory:
                self._changed(self._root, below, True)
