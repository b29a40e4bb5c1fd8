"""Events that concern nobody's turn: published in the daemon, heard by whoever listens then.

Knows nothing of what they mean. Nothing is kept for later: what must not be lost is in a store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

MOST_LISTENERS = 32  # a household's devices and some more
MOST_WAITING = 64  # events for one slow listener; then its oldest is dropped


@dataclass(frozen=True, slots=True)
class Notice:
    """One event. `dropped` is how many before it this listener was too slow for."""

    name: str
    fields: Mapping[str, object]
    dropped: int = 0


class TooManyListenersError(Exception):
    """`MOST_LISTENERS` listen already."""


class Listener:
    """One who listens. `next` gives None when there will be no more."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._dropped = 0

    async def next(self) -> Notice | None:
        notice = await self._waiting.get()
        if notice is None or not self._dropped:
            return notice
        dropped, self._dropped = self._dropped, 0
        return Notice(notice.name, notice.fields, dropped)

    def put(self, notice: Notice | None) -> None:
        if self._waiting.qsize() >= MOST_WAITING:
            self._waiting.get_nowait()
            self._dropped += 1
        self._waiting.put_nowait(notice)


class Broadcast:
    """All listeners of this daemon."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._closed = False

    def publish(self, name: str, fields: Mapping[str, object]) -> None:
        """Tell everyone who listens. Waits for nobody and never fails."""
        for listener in self._listeners:
            listener.put(Notice(name, fields))

    @contextmanager
    def listen(self) -> Iterator[Listener]:
        """Hear what is published from now on until the block ends. Raises `TooManyListenersError`."""
        if len(self._listeners) >= MOST_LISTENERS:
            raise TooManyListenersError
        listener = Listener()
        self._listeners.add(listener)
        if self._closed:
            listener.put(None)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    def close(self) -> None:
        """Let every listener go; later ones are let go at once."""
        self._closed = True
        for listener in self._listeners:
            listener.put(None)
