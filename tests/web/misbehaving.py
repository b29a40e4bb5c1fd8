"""A web server that does what it is told, byte by byte, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
ENDLESS = 1 << 16  # pieces; far beyond every limit, yet a server that nobody stops does stop


@dataclass
class Server:
    """`answers` by path; `asked` are the request lines and headers that came, in order."""

    port: int
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def url(self, path: str, host: str = "page.test", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


def whole(body: bytes, kind: str = "text/plain", status: str = "200 OK", **headers: str) -> Answer:
    """A complete answer with its length; an empty `kind` leaves the media type out."""
    fields = {"content-type": kind} if kind else {}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    fields.setdefault("content-length", str(len(body)))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return raw(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body)


def to(location: str, status: str = "302 Found") -> Answer:
    """A redirect."""
    return whole(b"", status=status, location=location)


def raw(data: bytes) -> Answer:
    """Just these bytes, then the end of the connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return answer


def endless(first: bytes, piece: bytes) -> Answer:
    """The first bytes, then a piece again and again while somebody listens."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        for _ in range(ENDLESS):
            writer.write(piece)
            await writer.drain()

    return answer


def stuck(first: bytes = b"") -> Answer:
    """The first bytes, then nothing until the client goes away."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await writer.drain()
        await asyncio.Event().wait()

    return answer


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Serve on the loopback until the block ends; connections that are left are cut."""
    tasks: set[asyncio.Task[None]] = set()
    server = Server(0)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *fields = head.strip().split("\r\n")
            asked = {
                name.lower(): value.strip() for name, _, value in (each.partition(":") for each in fields)
            }
            path = line.split()[1]
            server.asked.append(asked | {"line": line})
            await server.answers[path](writer)
            writer.close()
            await writer.wait_closed()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def run() -> None:
            try:
                await talk(reader, writer)
            finally:
                writer.transport.abort()

        task = asyncio.create_task(run())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(accepted, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
