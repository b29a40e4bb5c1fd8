"""A daemon that speaks the API from a script: real sockets, real HTTP bytes, no model."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

Reply = Callable[["Exchange"], None]
PATIENCE = 60.0  # seconds; how long a test waits for something that should happen at once

LEVELS = [{"name": "plan", "prompt": 40, "reused": 30, "decoded": 10, "generated": 3, "ms": 12.5}]
CALLS = [{"tool": "current_time", "status": "ok", "ms": 1.5}]
FINISHED = {
    "turn": "t1",
    "answer": "It is noon.",
    "handles": ["current-time"],
    "calls": CALLS,
    "levels": LEVELS,
    "ms": 20.0,
    "first_ms": 15.0,
}


@dataclass
class Exchange:
    """One request, and the means to answer it piece by piece."""

    path: str
    body: dict[str, object]
    handler: socketserver.StreamRequestHandler

    def send(self, data: bytes) -> None:
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def wait_for_hang_up(self) -> None:
        """Return when the client has closed its end (a reset: it had not read everything)."""
        with suppress(ConnectionResetError):
            assert self.handler.rfile.read(1) == b""


@dataclass
class ScriptedDaemon:
    """Answers by path; what was asked is in `requests`, in which session in `sessions`."""

    socket: Path
    replies: dict[str, Reply] = field(default_factory=dict)
    requests: list[dict[str, object]] = field(default_factory=list)
    sessions: list[object] = field(default_factory=list)


def whole(status: int, body: bytes, kind: str = "application/json") -> Reply:
    """A complete response."""
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return lambda exchange: exchange.send(head + body)


def obj(value: object, status: int = 200) -> Reply:
    """A complete JSON response."""
    return whole(status, json.dumps(value).encode())


def stream_head() -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(name: str, fields: dict[str, object]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(fields)}\n\n".encode()


def events(*pairs: tuple[str, dict[str, object]], end: bool = True) -> Reply:
    """A streamed turn; without `end` the connection is closed in the middle."""

    def reply(exchange: Exchange) -> None:
        exchange.send(stream_head())
        for name, fields in pairs:
            exchange.send(chunk(event(name, fields)))
        if end:
            with suppress(BrokenPipeError):  # who has the whole answer may have hung up
                exchange.send(chunk(b""))

    return reply


def answer(text: str = "It is noon.", pieces: Sequence[str] = ()) -> Reply:
    """A turn that answers `text`."""
    deltas: list[tuple[str, dict[str, object]]] = [("text", {"text": piece}) for piece in pieces or [text]]
    return events(("turn.started", {"turn": "t1"}), *deltas, ("turn.finished", FINISHED | {"answer": text}))


@contextmanager
def listening(socket: Path) -> Iterator[ScriptedDaemon]:
    """Serve on `socket` until the block ends."""
    daemon = ScriptedDaemon(socket)

    class Handler(socketserver.StreamRequestHandler):
        timeout = PATIENCE

        def handle(self) -> None:
            path = self.rfile.readline().split()[1].decode()
            length = 0
            while (line := self.rfile.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            body = json.loads(self.rfile.read(length)) if length else {}
            daemon.sessions.append(body.pop("session", None))
            daemon.requests.append(body)
            daemon.replies[path](Exchange(path, body, self))

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = False
        block_on_close = True

    with Server(str(socket), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield daemon
        finally:
            server.shutdown()
            thread.join()
