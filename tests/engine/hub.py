"""A model hub on a real socket that keeps a log and can be told to misbehave; and wheels for pip to find."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from muleteer.engine.models import Entry

MODEL = b"GGUF" + bytes(range(256)) * 1200
"""Bytes that differ from place to place, so that a wrong join shows."""

HUB_SOURCE = {"hub": "owner/repo", "file": "model.gguf"}


def entry(*sources: Mapping[str, object], name: str = "toy", data: bytes = MODEL) -> Entry:
    """A catalogue entry for `data`."""
    facts = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "licence": "MIT"}
    return Entry.model_validate({"name": name, "file": f"{name}.gguf", "sources": list(sources), **facts})


@dataclass
class Seen:
    """One request: its conditions, and how many bytes of body the server sent."""

    path: str
    range: str | None
    if_range: str | None
    sent: int = 0


@dataclass
class Hub:
    """Serves `data` with byte ranges. Each number in `cuts` ends one response after that many bytes."""

    data: bytes = MODEL
    etag: str | None = '"v1"'
    ranges: bool = True
    status: int | None = None
    cuts: list[int] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)

    def __enter__(self) -> Hub:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """The log is `seen`."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False  # so that closing waits for every answer
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        seen = Seen(request.path, request.headers["Range"], request.headers["If-Range"])
        self.seen.append(seen)
        if self.status:
            request.send_error(self.status)
            return
        start = 0
        unchanged = seen.if_range is None or seen.if_range == self.etag
        if self.ranges and seen.range and unchanged:
            found = re.fullmatch(r"bytes=(\d+)-", seen.range)
            assert found
            start = int(found[1])
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.data) - 1}/{len(self.data)}")
        if self.etag:
            request.send_header("ETag", self.etag)
        request.send_header("Content-Length", str(len(self.data) - start))
        request.end_headers()
        body = self.data[start:]
        if self.cuts:
            body = body[: self.cuts.pop(0)]
        seen.sent = len(body)
        request.wfile.write(body)


def wheel(folder: Path, package: str, member: str, data: bytes, version: str = "1.0") -> Path:
    """A wheel that holds `data` as `member`; `package` is spelled with dashes."""
    name = package.replace("-", "_")
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/{member}", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@dataclass
class Heard:
    """What a pull told its caller."""

    sentences: list[str] = field(default_factory=list)
    done: list[int] = field(default_factory=list)

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def at(self, done: int, total: int) -> None:
        assert 0 <= done <= total
        self.done.append(done)
