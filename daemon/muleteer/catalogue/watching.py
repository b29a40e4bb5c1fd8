"""Tells when anything in some folders may have changed, also in one that comes later.

Knows watchdog (inotify on Linux); not what is in the folders. A folder that is not there is waited for in the
nearest one above it that is.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from watchdog import events
from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from muleteer.calling.threads import in_thread
from muleteer.files import identity

log = logging.getLogger(__name__)

SETTLE_SECONDS = (
    0.3  # after a first event; an editor that saves, or a copy of a small folder, is done by then
)

# All but opening and reading, which the reader itself does. A changed mode is `Modified` or, in newer
# versions of the library, `Attrib`.
EVENTS: list[type[FileSystemEvent]] = [
    *(DirCreatedEvent, DirDeletedEvent, DirModifiedEvent, DirMovedEvent),
    *(FileClosedEvent, FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent),
    *(getattr(events, name) for name in ("DirAttribEvent", "FileAttribEvent") if hasattr(events, name)),
]

Place = tuple[Path, bool]  # a folder, and whether all below it is watched
Places = dict[Place, tuple[int, int] | None]  # and which folder it is: another may come in its stead


async def changes(folders: Sequence[Path], settle: float = SETTLE_SECONDS) -> AsyncGenerator[None, None]:
    """Yields once when watching has begun, and after each change that has settled; until it is closed. Raises
    `OSError` when the system allows no more watches."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    handler = _Handler(lambda: loop.call_soon_threadsafe(changed.set))
    observer = Observer()
    observer.start()
    watched: Places = {}
    try:
        while True:
            changed.clear()
            places = await in_thread(lambda: _places(folders), "look for folders", lambda: None)
            if places != watched:
                await in_thread(partial(_watch, observer, handler, list(places)), "watch", lambda: None)
                watched = places
            yield
            await changed.wait()
            await asyncio.sleep(settle)
    finally:
        handler.close()
        observer.stop()


class _Handler(FileSystemEventHandler):
    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed: Callable[[], object] | None = changed

    def close(self) -> None:
        """Nobody listens any more; the loop may be closed soon."""
        self._changed = None

    def on_any_event(self, event: FileSystemEvent) -> None:
        if self._changed:
            self._changed()


def _watch(observer: BaseObserver, handler: FileSystemEventHandler, places: Sequence[Place]) -> None:
    observer.unschedule_all()
    for path, deep in places:
        try:
            observer.schedule(handler, str(path), recursive=deep, event_filter=EVENTS)
        except FileNotFoundError:  # it has gone meanwhile, which the folder above it tells
            log.debug("%s vanished before it was watched", path)


def _places(folders: Sequence[Path]) -> Places:
    """Each folder with all below it, the folder above it, and where links in it lead."""
    found: dict[Place, None] = {}
    for folder in folders:
        if folder.is_dir():
            found[Path(os.path.realpath(folder)), True] = None
            found |= {(target, False): None for target in _targets(folder)}
        found[next(above for above in folder.parents if above.is_dir()), False] = None
    return {place: identity(place[0]) for place in found}


def _targets(folder: Path) -> Iterator[Path]:
    """The folders in which a link of this folder has its target."""
    for entry in folder.iterdir():
        if entry.is_symlink():
            target = Path(os.path.realpath(entry))
            if (place := target if target.is_dir() else target.parent).is_dir():
                yield place
