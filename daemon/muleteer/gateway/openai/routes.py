"""The paths of OpenAI's format: what comes in, what goes out, and when.

Knows HTTP and the order of things. What a body means is in `wire.py`, what is said in `telling.py`, and what
a turn does in `guests.py`. A client that leaves ends its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from muleteer.errors import CancelledByClientError, MuleteerError
from muleteer.gateway import peer, replies
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.guests import DEFAULT, End, Guests, Reply, TurnError
from muleteer.gateway.openai.telling import KEEP_ALIVE, Fault, Head, Pieces, event, fault_of, whole
from muleteer.gateway.openai.wire import Completion, completion
from muleteer.gateway.reading import read
from muleteer.gateway.requests import BODY_SECONDS, read_body

NO_MODEL = "There is no model {name!r} here; use {known}, or `muleteer model use` for another one."
NO_EMBEDDINGS = "No embeddings are made here; /v1/chat/completions and /v1/models are what there is."


def openai_routes(
    guests: Guests, keep_alive: float = replies.KEEP_ALIVE_SECONDS, seconds: float = BODY_SECONDS
) -> list[BaseRoute]:
    """`keep_alive`: seconds of silence after which a stream says that it lives; `seconds` for a body."""
    began = int(time.time())

    def described(name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": began, "owned_by": DEFAULT}

    async def chat(request: Request) -> ASGIApp:
        body = read(await read_body(request, seconds))
        asked = completion(body, peer.current.get().id)
        if fault := _unknown(asked.model, guests):
            return _refusal(fault)
        head = Head.new(time.time(), asked.model)
        return _Stream(guests, asked, head, keep_alive) if asked.stream else _Object(guests, asked, head)

    async def models(request: Request) -> ASGIApp:
        return replies.Json({"object": "list", "data": [described(name) for name in guests.names]})

    async def model(request: Request) -> ASGIApp:
        name = str(request.path_params["name"])
        fault = _unknown(name, guests)
        return _refusal(fault) if fault else replies.Json(described(name))

    async def embeddings(request: Request) -> ASGIApp:
        return _refusal(Fault(404, "unsupported", NO_EMBEDDINGS))

    return [
        Route("/v1/embeddings", _told(embeddings), methods=["POST"]),
        Route("/v1/chat/completions", _told(chat), methods=["POST"]),
        Route("/v1/models", _told(models), methods=["GET"]),
        Route("/v1/models/{name:path}", _told(model), methods=["GET"]),
    ]


View = Callable[[Request], Coroutine[None, None, ASGIApp]]


def _told(view: View) -> View:
    """The view, with errors of ours in OpenAI's words."""

    async def answer(request: Request) -> ASGIApp:
        try:
            return await view(request)
        except MuleteerError as error:
            return _refusal(fault_of(error))

    return answer


def _unknown(name: str, guests: Guests) -> Fault | None:
    if name in guests.names:
        return None
    known = " or ".join(f"`{each}`" for each in guests.names)
    return Fault(404, "model_not_found", NO_MODEL.format(name=name[:80], known=known), "model")


def _refusal(fault: Fault) -> Response:
    return replies.Json(fault.fields(), fault.status, fault.headers())


class _Object:
    """The whole reply as one object."""

    def __init__(self, guests: Guests, asked: Completion, head: Head) -> None:
        self._guests, self._asked, self._head = guests, asked, head

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await while_connected(receive, self._response())
        await response(scope, receive, send)

    async def _response(self) -> Response:
        try:
            async with self._guests.start(self._asked.ask) as reply:
                text, calls, end = await reply.whole()
        except (MuleteerError, TurnError) as error:
            return _refusal(fault_of(error))
        return replies.Json(whole(self._head, text, calls, end))


class _Stream:
    """The reply piece by piece. It begins with the first one, or when there was none for a while: whatever
    fails before has its status; what fails later is the last event."""

    def __init__(self, guests: Guests, asked: Completion, head: Head, keep_alive: float) -> None:
        self._guests, self._asked, self._keep_alive = guests, asked, keep_alive
        self._pieces = Pieces(head, asked.include_usage)
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(CancelledByClientError):  # nobody is left to be told
            if refusal := await while_connected(receive, self._stream(send)):
                await refusal(scope, receive, send)

    async def _stream(self, send: Send) -> Response | None:
        """All of it; or what is said instead, as long as nothing was said."""
        try:
            async with self._guests.start(self._asked.ask) as reply:
                last = False
                while not last:
                    body, last = await self._piece(reply)
                    await self._send(send, body, last)
        except (MuleteerError, TurnError) as error:
            fault = fault_of(error)
            if not self._begun:
                return _refusal(fault)
            await self._send(send, event(fault.fields()), True)
        return None

    async def _piece(self, reply: Reply) -> tuple[bytes, bool]:
        """What comes next, or a comment when nothing came for a while; and whether it is the last."""
        try:
            async with asyncio.timeout(self._keep_alive):
                part = await reply.next()
        except TimeoutError:
            return KEEP_ALIVE, False
        if isinstance(part, str):
            return self._pieces.text(part), False
        if isinstance(part, End):
            return self._pieces.end(part), True
        return self._pieces.calls(part), False

    async def _send(self, send: Send, body: bytes, last: bool) -> None:
        if not self._begun:
            self._begun, body = True, self._pieces.opening() + body
            headers = [(name.encode(), value.encode()) for name, value in replies.EVENT_STREAM.items()]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": not last})
