"""A server of chat completions that says what the test queued, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
ENDLESS = 1 << 16  # pieces; far beyond every limit, yet a server that nobody stops does stop


@dataclass
class Scripted:
    """Each request takes the next answer; the last one is given again and again. `heads` are the headers of
    each request, `bodies` its JSON."""

    port: int = 0
    script: deque[Answer] = field(default_factory=deque)
    heads: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def enqueue(self, answers: Sequence[Answer]) -> None:
        self.script.extend(answers)

    def messages(self, request: int = -1) -> list[tuple[str, str]]:
        return [(m["role"], m["content"]) for m in self.bodies[request]["messages"]]


def event(data: object) -> bytes:
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def delta(piece: object, finish: str | None = None) -> bytes:
    return event({"choices": [{"index": 0, "delta": piece, "finish_reason": finish}]})


USAGE = {"prompt_tokens": 40, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 30}}
DONE = event({"choices": [], "usage": USAGE}) + event("[DONE]")


def raw(*pieces: bytes) -> Answer:
    """These bytes, piece by piece, then the end of the connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return answer


def says(*texts: str, finish: str = "stop") -> Answer:
    """A streamed text."""
    return raw(STREAM, *(delta({"content": text}) for text in texts), delta({}, finish), DONE)


def calls(*made: tuple[str, object], text: str = "") -> Answer:
    """Calls in chunks, as OpenAI streams them: first the name, then the arguments, cut in pieces of four."""
    pieces = [STREAM, delta({"role": "assistant", "content": text})]
    for index, (name, given) in enumerate(made):
        arguments = given if isinstance(given, str) else json.dumps(given)
        head = {
            "index": index,
            "id": f"id{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        pieces.append(delta({"tool_calls": [head]}))
        for start in range(0, len(arguments), 4):
            part = {"index": index, "function": {"arguments": arguments[start : start + 4]}}
            pieces.append(delta({"tool_calls": [part]}))
    return raw(*pieces, delta({}, "tool_calls"), DONE)


def status(line: str, body: object = "", **headers: str) -> Answer:
    content = (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = (
        f"HTTP/1.1 {line}\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n{fields}\r\n"
    )
    return raw(head.encode() + content)


def whole(message: object) -> Answer:
    """An answer that is not streamed."""
    return status("200 OK", {"choices": [{"message": message, "finish_reason": "stop"}], "usage": USAGE})


def stuck(*first: bytes) -> Answer:
    """These bytes, then nothing until the client goes away."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await raw(*first)(writer)
        await asyncio.Event().wait()

    return answer


def endless(first: bytes, piece: bytes, pause: float = 0.0) -> Answer:
    """A piece again and again while somebody listens, with so many seconds between."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        for _ in range(ENDLESS):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


@asynccontextmanager
async def serving(*script: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[Scripted]:
    """Serve on the loopback until the block ends; connections that are left are cut."""
    server = Scripted(script=deque(script))
    tasks: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            _, *lines = head.strip().split("\r\n")
            fields = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines)}
            server.heads.append(fields)
            server.bodies.append(json.loads(await reader.readexactly(int(fields["content-length"]))))
            next_answer = server.script.popleft() if len(server.script) > 1 else server.script[0]
            left = asyncio.create_task(_left(reader, server))
            try:
                await next_answer(writer)
            except ConnectionError:
                server.gone.set()
            finally:
                left.cancel()
            writer.close()
            await writer.wait_closed()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def run() -> None:
            try:
                await answer(reader, writer)
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


async def _left(reader: asyncio.StreamReader, server: Scripted) -> None:
    with suppress(ConnectionError):
        await reader.read()
    server.gone.set()
