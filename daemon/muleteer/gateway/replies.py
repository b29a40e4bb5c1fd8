"""What goes back to a client: JSON, a turn as server-sent events, and errors in the shape of their path.

Knows HTTP statuses and the wire format of events. Does not know what a turn does.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from muleteer.errors import CancelledByClientError, EngineBusyError, MuleteerError, TooManyError
from muleteer.gateway import faults
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.running import Following, Turn
from muleteer.harness.events import Confirm, Event, Outcome, TurnFailed

KEEP_ALIVE_SECONDS = 10.0  # proxies give up on a silent stream after 30 or 60
RETRY_SECONDS = 5.0  # hint with every 429 and 503; an engine restarts and a turn ends in about that
EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache, no-transform"}

Begin = Callable[[], AbstractAsyncContextManager[Turn]]
Follow = Callable[[], AbstractAsyncContextManager[Turn | Following]]

STATUS_CODES = {404: "not_found", 405: "method_not_allowed"}
STATUS_SENTENCES = {
    404: "There is nothing here; see POST /v1/turns, GET /v1/status, /v1/skills, /v1/tools and /healthz.",
    405: "This method does not work here; the Allow header names those that do.",
}


class Json(Response):
    """One JSON object. Text that is not valid Unicode is replaced, not refused."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        return _json(content)


class TurnObject:
    """The whole turn as one JSON object, as soon as there is an outcome."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outcome = await while_connected(receive, self._outcome())
        await _object(outcome)(scope, receive, send)

    async def _outcome(self) -> Outcome:
        async with self._begin() as turn:
            return await turn.result()


class TurnStream:
    """The turn's events as they happen. The status is 200 as soon as the turn has begun; how it went is
    the last event."""

    def __init__(self, begin: Follow, keep_alive: float = KEEP_ALIVE_SECONDS) -> None:
        self._begin = begin
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(CancelledByClientError):  # nobody is left to be told
            await while_connected(receive, self._stream(send))

    async def _stream(self, send: Send) -> None:
        async with self._begin() as turn:
            headers = [(name.encode(), value.encode()) for name, value in EVENT_STREAM.items()]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            last = False
            while not last:
                body, last = await self._piece(turn)
                await send({"type": "http.response.body", "body": body, "more_body": not last})

    async def _piece(self, turn: Turn | Following) -> tuple[bytes, bool]:
        """The next event, or a comment when none came for a while; and whether it is the last."""
        try:
            async with asyncio.timeout(self._keep_alive):
                event = await turn.next()
        except TimeoutError:
            return b": keep-alive\n\n", False
        return encode_event(event), isinstance(event, Outcome)


def encode_event(event: Event) -> bytes:
    """One event of a stream."""
    return encode_fields(event.name, event.as_dict())


def encode_fields(name: str, fields: Mapping[str, object]) -> bytes:
    """One event of a stream, from its name and fields."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), _json(fields))


def when(status: int, error: Exception | None = None) -> dict[str, str]:
    """The header that says when to come again: with 429, the caller's own share is used up, and with 503."""
    known = error.retry_after if isinstance(error, EngineBusyError | TooManyError) else RETRY_SECONDS
    return {"retry-after": str(math.ceil(known))} if status in (429, 503) else {}


def error_reply(error: MuleteerError, path: str = "") -> Response:
    """The error with its status, as `faults.told` has it for this path."""
    return _error(error.status, error.code, str(error), when(error.status, error), path)


async def on_fault(request: Request, error: Exception) -> Response:
    """Exception handler for our own errors."""
    return error_reply(cast(MuleteerError, error), request.url.path)


async def on_hang_up(request: Request, error: Exception) -> Response:
    """Exception handler for a client that left while its request was read; nobody gets this reply."""
    return error_reply(CancelledByClientError("The client went away before its request was complete."))


async def on_http_error(request: Request, error: Exception) -> Response:
    """Exception handler for what the router refuses."""
    refusal = cast(HTTPException, error)
    status = refusal.status_code
    message = STATUS_SENTENCES.get(status, refusal.detail)
    code = STATUS_CODES.get(status, "bad_request")
    return _error(status, code, message, refusal.headers, request.url.path)


async def on_crash(request: Request, error: Exception) -> Response:
    """Exception handler for everything else; the server logs the traceback."""
    return crash_reply(request.url.path)


def crash_reply(path: str) -> Response:
    """What a client is told of a fault of ours."""
    return _error(500, "internal", "The request failed inside the daemon; its log says where.", path=path)


def _object(outcome: Outcome) -> Response:
    if isinstance(outcome, TurnFailed):
        return _error(outcome.status, outcome.code, outcome.message, when(outcome.status))
    return Json(outcome.as_dict(), 202 if isinstance(outcome, Confirm) else 200)


def _error(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None, path: str = ""
) -> Response:
    headers = dict(headers or {})
    if status == 408:
        headers["connection"] = "close"  # the rest of the request may still come, and is nothing
    return Json(faults.told(path, status, code, message), status, headers)


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
