"""One brain elsewhere, over HTTP: asked in time, again when that can help, and read within bounds.

Knows HTTP by way of httpx, deadlines, retries and sizes; `wire.py` knows the format. The official client was
looked at: it takes 30 MB more of a small board, and bounds neither what a server may send nor how long it may
be silent between two words.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

import muleteer
from muleteer import bearer
from muleteer.brains import wire
from muleteer.brains.reading import Reading
from muleteer.brains.settings import BrainServer
from muleteer.engine.protocol import Conversation, Use
from muleteer.errors import BrainError, ConfigError, TooLongError
from muleteer.harness.brains import Said
from muleteer.sse import EventParser

log = logging.getLogger(__name__)

LARGEST_REPLY = 8 << 20  # bytes on the wire; an event is about 300 bytes, so some 25,000 tokens, thoughts too
LARGEST_EVENT = 256 << 10  # bytes; a server that does not stream sends one with all its text
LARGEST_REFUSAL = 64 << 10  # bytes of an error's body that are read
REFUSAL_SECONDS = 5.0  # to read them
PAUSE = 0.5  # seconds before the first retry, twice as many before each other
LONGEST_PAUSE = 8.0  # seconds; a person waits for this turn
MOST_PATIENCE = 20.0  # seconds of a Retry-After that is waited for; a longer one is given up on at once
CONNECTIONS = 8  # at once; more turns than that wait for the engine anyway
BYTES_PER_TOKEN = 3  # rather too few: English has four, German three; for estimates
TOKENS_PER_MESSAGE = 4  # what templates add


@dataclass
class Counts:
    """What a server was asked since the start. `refused`: parameters that it does not know."""

    requests: int = 0
    retries: int = 0
    failures: int = 0
    prompt: int = 0
    generated: int = 0
    reason: str = ""
    refused: list[str] = field(default_factory=list)


class _AgainError(Exception):
    """A fault that may be over in a moment: in `wait` seconds where the server said so."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


class Server:
    """A free brain (`harness.brains.FreeLane`). `open` it before, `close` it after. `pause` is for tests."""

    def __init__(self, name: str, settings: BrainServer, pause: float = PAUSE) -> None:
        self.name, self.settings = name, settings
        self.counts = Counts()
        self._pause = pause
        self._client: httpx.AsyncClient | None = None
        self._unusable = "it is not open"

    async def open(self) -> None:
        """Never fails: a key or certificates that cannot be read are told when it is asked, and in status."""
        settings = self.settings
        try:
            secret = await asyncio.to_thread(bearer.secret_of, settings.key_variable, settings.key_file)
            tls = await asyncio.to_thread(_tls, settings.certificates)
        except (ConfigError, OSError) as error:  # ssl.SSLError is an OSError
            what = str(error) if isinstance(error, ConfigError) else "its certificates cannot be read"
            self._unusable = self.counts.reason = what
            log.warning("The brain %s cannot be asked: %s.", self.name, what)
            return
        headers = {
            "user-agent": f"muleteer/{muleteer.__version__}",
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",
        }
        if secret:
            headers["authorization"] = f"Bearer {secret}"
        self._client = httpx.AsyncClient(
            headers=headers,
            verify=tls,
            timeout=httpx.Timeout(None, connect=settings.connect),
            limits=httpx.Limits(max_connections=CONNECTIONS),
        )

    async def close(self) -> None:
        """May be called more than once."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def report(self) -> dict[str, object]:
        """For `status`: where it is, what was asked, and what went wrong last."""
        return {"url": self.settings.url, "model": self.settings.model, **asdict(self.counts)}

    async def count(self, prompt: Conversation | str) -> int:
        """Tokens, estimated: the tokenizer is elsewhere."""
        if isinstance(prompt, str):
            return _tokens(prompt)
        tools = sum(
            _tokens(json.dumps([t.name, t.description, dict(t.parameters)], ensure_ascii=False))
            for t in prompt.tools
        )
        said = (_tokens(m.content) + sum(_tokens(a) for _, a in m.calls) for m in prompt.messages)
        return tools + sum(said) + TOKENS_PER_MESSAGE * len(prompt.messages)

    async def talk(
        self,
        conversation: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Said, None]:
        """As `FreeLane.talk`. Where there is one tool, its first whole call ends the reply: what comes after
        it is not paid for. Raises `BrainError` when no reply came, or broke off."""
        tokens = await self.count(conversation)
        most = min(prompt_limit or self.settings.prompt, self.settings.prompt)
        if tokens > most:
            raise TooLongError(f"The prompt has about {tokens} tokens and may have {most}; send less text.")
        began, retries = time.perf_counter(), 0
        while True:
            reply, reading = wire.Reply(limit, len(conversation.tools) == 1), Reading(conversation.tools)
            self.counts.requests += 1
            try:
                async with aclosing(self._texts(conversation, reply, stop)) as texts:
                    async for text in texts:
                        if prose := reading.feed(text):
                            yield prose
                rest, calls = reading.finish(reply.calls, reply.finish == "length")
                break
            except _AgainError as error:
                if reply.begun or retries == self.settings.retries:
                    raise self._failed(str(error)) from None
                retries += 1
                self.counts.retries += 1
                log.info("The brain %s %s; asking again.", self.name, error)
                await asyncio.sleep(self._wait(retries, error.wait))
        if rest:
            yield rest
        use = replace(reply.use or self._estimated(tokens, reply), ms=(time.perf_counter() - began) * 1000)
        self.counts.prompt += use.prompt
        self.counts.generated += use.generated
        self.counts.reason = ""
        yield Said(reading.prose, calls, reply.finish or "length", use)

    async def _texts(
        self, conversation: Conversation, reply: wire.Reply, stop: Sequence[str]
    ) -> AsyncGenerator[str, None]:
        """The texts of one answer as they arrive; the rest of it is in `reply`. Raises `_AgainError` for what
        may be over in a moment, `BrainError` for all else."""
        async with aclosing(self._chunks(conversation, reply, stop)) as chunks:
            events = EventParser(LARGEST_EVENT)
            try:
                async for chunk in chunks:
                    if isinstance(chunk, str):
                        yield reply.whole(chunk)
                        return
                    for event in events.feed(chunk):
                        if event.data.strip() == "[DONE]":
                            return
                        yield reply.feed(event.data)
                        if reply.overlong or reply.enough:
                            reply.finish = "stop" if reply.enough else "length"
                            return
            except wire.ServerFaultError as error:
                raise _AgainError(str(error)) from None
            except ValueError as error:
                raise self._failed(f"cannot be understood: {error}") from None
        if reply.finish is None:
            raise _AgainError("broke off in the middle of its answer")

    async def _chunks(
        self, conversation: Conversation, reply: wire.Reply, stop: Sequence[str]
    ) -> AsyncGenerator[bytes | str, None]:
        """What the server sends, piece by piece in time; as text where it did not stream."""
        deadline = asyncio.get_running_loop().time() + self.settings.first
        response = await self._asked(conversation, reply.limit, stop, deadline)
        try:
            if "application/json" in response.headers.get("content-type", ""):
                async with asyncio.timeout_at(deadline):
                    whole = await _read(response, LARGEST_EVENT)
                yield whole.decode(errors="replace")
                return
            async with aclosing(self._in_time(response.aiter_raw(), reply, deadline)) as pieces:
                async for piece in pieces:
                    yield piece
        except TimeoutError:
            raise self._failed(f"said nothing for {self.settings.first:g} seconds") from None
        except _TooMuchError as error:
            raise self._failed(str(error)) from None
        except httpx.TransportError:
            raise _AgainError("broke off in the middle of its answer") from None
        finally:
            await response.aclose()

    async def _in_time(
        self, pieces: AsyncIterator[bytes], reply: wire.Reply, deadline: float
    ) -> AsyncGenerator[bytes, None]:
        """The pieces, while the model's words keep coming: comments that keep a line open do not count."""
        loop, size, alive = asyncio.get_running_loop(), 0, 0
        seconds = self.settings.first
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    piece = await anext(pieces, None)
            except TimeoutError:
                raise self._failed(f"said nothing for {seconds:g} seconds") from None
            if piece is None:
                return
            size += len(piece)
            if size > LARGEST_REPLY:
                raise _TooMuchError(f"sent more than {LARGEST_REPLY >> 20} MiB")
            yield piece
            if reply.alive > alive:
                alive, seconds = reply.alive, self.settings.between
                deadline = loop.time() + seconds

    async def _asked(
        self, conversation: Conversation, limit: int, stop: Sequence[str], deadline: float
    ) -> httpx.Response:
        """An answer that is not a refusal, begun before `deadline`. A parameter that the server does not know
        is left out for good."""
        while True:
            without = frozenset(self.counts.refused)
            body = wire.body(conversation, self.settings.model, limit, stop, without)
            response = await self._sent(body, deadline)
            if response.status_code == HTTPStatus.OK:
                return response
            try:
                async with asyncio.timeout(REFUSAL_SECONDS):
                    said = await _read(response, LARGEST_REFUSAL)
            except (TimeoutError, httpx.TransportError, _TooMuchError):
                said = b""
            finally:
                await response.aclose()
            parameter = wire.refused_parameter(said) if response.status_code == HTTPStatus.BAD_REQUEST else ""
            if not parameter or parameter in without:
                raise self._refusal(response)
            self.counts.refused.append(parameter)

    async def _sent(self, body: dict[str, object], deadline: float) -> httpx.Response:
        """The head of an answer."""
        if self._client is None:
            raise self._failed(f"cannot be asked: {self._unusable}")
        url = f"{self.settings.url.rstrip('/')}/chat/completions"
        request = self._client.build_request("POST", url, json=body)
        try:
            async with asyncio.timeout_at(deadline):
                return await self._client.send(request, stream=True)
        except TimeoutError:
            raise self._failed(f"said nothing for {self.settings.first:g} seconds") from None
        except (httpx.ConnectTimeout, httpx.ConnectError, httpx.PoolTimeout) as error:
            raise _AgainError(f"cannot be reached{_why(error)}") from None
        except httpx.TransportError:
            raise _AgainError("cut the connection") from None

    def _refusal(self, response: httpx.Response) -> Exception:
        """What becomes of an answer that is none. Its words are not told: they may quote the message."""
        code = response.status_code
        name = f"{code} {HTTPStatus(code).phrase}" if code in HTTPStatus.__members__.values() else str(code)
        if code in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS) or code >= 500:
            wait = _retry_after(response.headers.get("retry-after", ""))
            if wait is not None and wait > MOST_PATIENCE:
                return self._failed(f"answered {name} and wants to be left alone for {wait:.0f} seconds")
            return _AgainError(f"answered {name}", wait)
        if code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return self._failed(f"answered {name}: its key is missing or wrong")
        return self._failed(f"answered {name}; check the url and the model in [brains.servers.{self.name}]")

    def _failed(self, what: str) -> BrainError:
        self.counts.failures += 1
        self.counts.reason = what
        return BrainError(f"The brain {self.name} {what}.")

    def _wait(self, retry: int, wanted: float | None) -> float:
        """Seconds; jitter keeps devices that failed together from coming back together."""
        pause = min(self._pause * 2 ** (retry - 1), LONGEST_PAUSE) * random.uniform(0.5, 1.5)  # noqa: S311
        return float(max(pause, wanted or 0.0))

    def _estimated(self, prompt: int, reply: wire.Reply) -> Use:
        return Use(prompt, 0, prompt, reply.estimated, reply.estimated)


class _TooMuchError(Exception):
    """More bytes than are read."""


async def _read(response: httpx.Response, most: int) -> bytes:
    found = bytearray()
    async for piece in response.aiter_raw():
        found += piece
        if len(found) > most:
            raise _TooMuchError(f"sent more than {most >> 10} KiB at once")
    return bytes(found)


def _why(error: httpx.TransportError) -> str:
    """That certificates are the reason is worth saying; the rest is the network's business."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return ": its certificate cannot be trusted"
        cause = cause.__cause__ or cause.__context__
    return ""


def _retry_after(text: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Seconds, from a number or a date; None for anything else."""
    if text.strip().isdecimal() and len(text) < 10:
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - now()).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _tls(certificates: str) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certificates or None)


def _tokens(text: str) -> int:
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)
