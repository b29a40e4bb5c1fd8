"""The peer's side of a benchmark: llama.cpp's own server as a child process, asked over HTTP.

Knows how to start it, how to ask it, and what its answers mean. Prompts are token ids, so that both sides
decode exactly the same. Who compares what is not known here.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

import httpx

from muleteer.errors import EngineError

START_S = 300.0  # a slow card loads the default model at about 20 MB/s
ANSWER_S = 600.0  # 3,000 tokens at 20 a second are 150 s
LOG_LINES = 5  # of the peer's log, in the sentence about its failure
GREEDY = {"temperature": 0, "top_k": 1, "samplers": ["top_k"], "cache_prompt": True}


@dataclass(frozen=True, slots=True)
class PeerSettings:
    """One configuration. `similarity` is how much of a slot's prompt must be shared for it to be continued;
    `cache_reuse` the shortest run of tokens that is moved instead of decoded (0: none); `cache_memory` the
    MiB of prompts kept outside the context (llama.cpp's default)."""

    model: str
    context: int
    threads: int
    slots: int = 1
    cache_reuse: int = 0
    similarity: float = 0.1
    extra_buffers: bool = True
    drafting: bool = False
    cache_memory: int = 8192


@dataclass(frozen=True, slots=True)
class Answer:
    """`prompt` tokens, of which `decoded` were evaluated; `generated` tokens; seconds of wall time, to the
    first piece of text and to the end. `whole` is false when the token limit cut it."""

    text: str
    prompt: int
    decoded: int
    generated: int
    first_s: float
    seconds: float
    whole: bool


def installed() -> bool:
    return importlib.util.find_spec("xllamacpp") is not None


class Peer:
    """A running server. Use it as an asynchronous context manager."""

    def __init__(self, settings: PeerSettings) -> None:
        self.settings = settings
        self.build = self.address = ""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the server)
        self._process: asyncio.subprocess.Process | None = None
        self._http: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Peer:
        try:
            async with asyncio.timeout(START_S):
                await self._start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _start(self) -> None:
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-P", "-m", "muleteer.evaluate.peer_server"]
        self._process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=self._log
        )
        asking, answering = self._process.stdin, self._process.stdout
        if asking is None or answering is None:
            raise EngineError("The peer has no pipes.")
        asking.write(json.dumps(asdict(self.settings)).encode() + b"\n")
        line = await answering.readline()
        if not line:
            raise EngineError(await self._death())
        hello = json.loads(line)
        self.build, self.address = hello["build"], hello["address"]
        self._http = httpx.AsyncClient(base_url=hello["address"], timeout=ANSWER_S, trust_env=False)

    async def stop(self) -> None:
        """End the server; may be called again."""
        if self._http is not None:
            await self._http.aclose()
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()
        self._log.close()

    async def complete(self, prompt: Sequence[int], limit: int, **wanted: object) -> Answer:
        """A greedy completion of at most `limit` tokens. `wanted` are further fields of the request, such as
        `json_schema` or `grammar`. Raises `EngineError` when the server fails or read another prompt."""
        body: dict[str, object] = {"prompt": list(prompt), "n_predict": limit, **GREEDY, **wanted}
        began = time.perf_counter()
        reply = await self._post("/completion", body)
        ended = time.perf_counter()
        return self._answer(reply, str(reply["content"]), prompt, began, ended, ended)

    async def stream(self, prompt: Sequence[int], limit: int, **wanted: object) -> Answer:
        """The same with the time of the first piece of text."""
        body = {"prompt": list(prompt), "n_predict": limit, "stream": True, **GREEDY, **wanted}
        text, first, last = "", 0.0, {}
        began = time.perf_counter()
        try:
            async with self._client().stream("POST", "/completion", json=body) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        last = json.loads(line.removeprefix("data: "))
                        text += str(last.get("content", ""))
                        first = first or (time.perf_counter() if text else 0.0)
        except httpx.HTTPError as error:
            raise EngineError(await self._death(error)) from error
        ended = time.perf_counter()
        return self._answer(last, text, prompt, began, first or ended, ended)

    def _answer(
        self, reply: Any, text: str, prompt: Sequence[int], began: float, first: float, ended: float
    ) -> Answer:
        if reply.get("tokens_evaluated") != len(prompt):
            raise EngineError(
                f"The peer read {reply.get('tokens_evaluated')} tokens of {len(prompt)}: {str(reply)[:200]}"
            )
        return Answer(
            text=text,
            prompt=len(prompt),
            decoded=reply["timings"]["prompt_n"],
            generated=reply["tokens_predicted"],
            first_s=first - began,
            seconds=ended - began,
            whole=reply["stop_type"] != "limit",
        )

    async def _post(self, path: str, body: dict[str, object]) -> Any:
        try:
            response = await self._client().post(path, json=body)
        except httpx.HTTPError as error:
            raise EngineError(await self._death(error)) from error
        if response.is_error:
            raise EngineError(f"The peer refused: {response.text[:300]}")
        return response.json()

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            raise EngineError("The peer is not running.")
        return self._http

    async def _death(self, error: Exception | None = None) -> str:
        """Why the server does not answer, with the end of its log."""
        code = None if self._process is None else self._process.returncode
        if error is None and self._process is not None:
            code = await self._process.wait()
        size = self._log.seek(0, 2)
        self._log.seek(max(0, size - 2000))
        lines = self._log.read().decode(errors="replace").splitlines()[-LOG_LINES:]
        return f"The peer failed (exit code {code}, {error!r}): {' / '.join(lines)}"
