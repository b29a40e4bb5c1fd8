"""Other people's Wyoming servers on real ports, reading and writing with the protocol's own package."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event, async_read_event, async_write_event

DEADLINE = 20.0  # seconds, on a slow machine


class Client:
    """One connection, as the server sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def read(self) -> Event:
        """The next event; EOFError when the client has hung up."""
        if (event := await async_read_event(self.reader)) is None:
            raise EOFError
        return event

    async def until(self, kind: str) -> Event:
        """The next event of this type; others are skipped."""
        while (event := await self.read()).type != kind:
            pass
        return event

    async def sound(self) -> bytes:
        """What is sent as sound, to its end."""
        pcm = b""
        while not AudioStop.is_type((event := await self.read()).type):
            if AudioChunk.is_type(event.type):
                pcm += AudioChunk.from_event(event).audio
        return pcm

    async def send(self, *events: Event) -> None:
        for event in events:
            await async_write_event(event, self.writer)

    async def say(
        self, pcm: bytes, rate: int = 22_050, width: int = 2, channels: int = 1, step: int = 2048
    ) -> None:
        form = {"rate": rate, "width": width, "channels": channels}
        await self.send(AudioStart(**form).event())
        for start in range(0, len(pcm), step):
            await self.send(AudioChunk(audio=pcm[start : start + step], **form).event())
        await self.send(AudioStop().event())


Serve = Callable[[Client], Awaitable[None]]


@asynccontextmanager
async def serving(serve: Serve, port: int = 0) -> AsyncIterator[int]:
    """A server that treats each client so, and its port. Leaving it is its death: every connection ends."""
    tasks: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(Client(reader, writer))
        except (EOFError, OSError):
            pass
        finally:
            writer.close()

    def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(one(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(greet, "127.0.0.1", port)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
