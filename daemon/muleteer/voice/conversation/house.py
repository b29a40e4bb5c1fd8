"""The daemon as the conversation uses it: turns, what happens in the house, and three small requests.

The client of the commands does the talking, which blocks; here each call of it has a thread, and giving one
up hangs up, by which the daemon knows at once that nobody waits.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from muleteer.cli.client import Daemon
from muleteer.cli.remote import Remote
from muleteer.errors import MuleteerError

log = logging.getLogger(__name__)

Told = tuple[str, dict[str, object]]

FORGOTTEN_SECONDS = 300.0  # after the last turn; then "and in Rome?" leans on nothing any more
HINT_SECONDS = 2.0  # for an answer to what is only a hint
MOST_HELD = 256  # events of a turn not yet taken; more wait in the socket


class House(Protocol):
    """What the conversation needs of a daemon. Each raises `MuleteerError`."""

    def turn(self, text: str) -> AsyncGenerator[Told, None]:
        """The events of a turn; closing the generator stops it."""
        ...

    def confirm(self, turn: str, yes: bool) -> AsyncGenerator[Told, None]:
        """The events of a turn that goes on with the answer to its question."""
        ...

    def events(self) -> AsyncGenerator[Told, None]:
        """What happens in the house, until the daemon stops."""
        ...

    async def warm(self) -> None: ...
    async def silence(self) -> None: ...
    async def names(self) -> list[str]: ...


class DaemonHouse:
    """A daemon at `place`. Turns that follow each other within minutes are one conversation."""

    def __init__(self, place: Path | Remote, now: Callable[[], float] = time.monotonic) -> None:
        self._place, self._now = place, now
        self._session, self._last = "", 0.0

    def turn(self, text: str) -> AsyncGenerator[Told, None]:
        daemon = self._talking()
        return _streamed(daemon, lambda: daemon.turn(text))

    def confirm(self, turn: str, yes: bool) -> AsyncGenerator[Told, None]:
        daemon = self._talking()
        return _streamed(daemon, lambda: daemon.confirm(turn, yes))

    def events(self) -> AsyncGenerator[Told, None]:
        daemon = Daemon(self._place)
        return _streamed(daemon, daemon.events)

    async def warm(self) -> None:
        await self._send("POST", "/v1/warm")

    async def silence(self) -> None:
        await self._send("POST", "/v1/timers/silence")

    async def names(self) -> list[str]:
        """What is likely to be named in this house."""
        found = (await self._send("GET", "/v1/names")).get("names")
        return [str(each) for each in found] if isinstance(found, list) else []

    async def _send(self, method: str, path: str) -> dict[str, object]:
        daemon = Daemon(self._place)
        return await asyncio.to_thread(daemon.send, method, path, {}, HINT_SECONDS)

    def _talking(self) -> Daemon:
        if self._now() - self._last > FORGOTTEN_SECONDS:
            self._session = ""
        daemon = Daemon(self._place, self._session)
        self._session, self._last = daemon.session, self._now()
        return daemon


async def _streamed(
    daemon: Daemon, begin: Callable[[], Generator[Told, None, None]]
) -> AsyncGenerator[Told, None]:
    """What a blocking generator yields, from a thread that ends when this is closed."""
    loop, events = asyncio.get_running_loop(), asyncio.Queue[Told | MuleteerError | None]()
    room = threading.Semaphore(MOST_HELD)

    def put(event: Told | MuleteerError | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(events.put_nowait, event)

    def read() -> None:
        try:
            for event in begin():
                room.acquire()
                put(event)
        except MuleteerError as error:  # it is raised where the events are taken
            put(error)
        finally:
            put(None)

    threading.Thread(target=read, name="voice: daemon", daemon=True).start()
    try:
        while (event := await events.get()) is not None:
            if isinstance(event, MuleteerError):
                raise event
            room.release()
            yield event
    finally:
        daemon.hang_up()
        room.release(MOST_HELD)  # whoever waits for room shall see that


def code_of(error: MuleteerError) -> str:
    """What went wrong, by its code, as the daemon reported it or as it was found out here."""
    return str(getattr(error, "reported", error.code))
