"""The paths of Ollama's format: what comes in, what goes out, and when.

Knows HTTP and the order of things. What a body means is in `wire.py`, what is said in `telling.py`, what a
turn does in `guests.py`. A client that leaves ends its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

import muleteer
from muleteer.errors import CancelledByClientError, MuleteerError
from muleteer.gateway import peer, replies
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.guests import End, Guests, Reply, TurnError
from muleteer.gateway.ollama import wire
from muleteer.gateway.ollama.models import Models
from muleteer.gateway.ollama.telling import (
    NO_MODEL,
    Clock,
    Fill,
    Json,
    Teller,
    fault,
    in_chat,
    in_generate,
    line,
)
from muleteer.gateway.reading import Node, read
from muleteer.gateway.requests import BODY_SECONDS, read_body
from muleteer.harness.guests.ask import Ask, Wanted

VERSION = "0.13.0"  # of Ollama, whose format this is; clients ask for a least one
RUNNING = "Ollama is running"  # what clients look for at /
LINES = [(b"content-type", b"application/x-ndjson"), (b"cache-control", b"no-cache, no-transform")]
STAYS = "The model stays loaded as long as engine.idle_unload says."
# What is asked for with a path of Ollama's that is answered by no model of ours.
REFUSED = {
    "pull": "Models are fetched on the device, with `muleteer model pull`.",
    "push": "No model is sent from here.",
    "create": "No model is made here; `muleteer model use` takes any GGUF file.",
    "delete": "Models are deleted on the device.",
    "copy": "A model here has the name it has.",
    "embed": "No embeddings are made here.",
    "embeddings": "No embeddings are made here.",
}

Wake = Callable[[], Awaitable[object]]
Parse = Callable[[Node, int, str], wire.Wish]
View = Callable[[Request], Coroutine[None, None, ASGIApp]]


def ollama_routes(
    guests: Guests,
    models: Models,
    wake: Wake,
    keep_alive: float = replies.KEEP_ALIVE_SECONDS,
    seconds: float = BODY_SECONDS,
) -> list[BaseRoute]:
    """`wake` returns when the model is loaded. `keep_alive`: seconds of silence after which a stream says
    that it lives; `seconds` for a body."""

    async def body_of(request: Request) -> Node:
        return read(await read_body(request, seconds, typed=False))

    def talking(parse: Parse, fill: Fill) -> View:
        async def view(request: Request) -> ASGIApp:
            clock = Clock(time.monotonic())
            wish = parse(await body_of(request), models.context, peer.current.get().id)
            if (name := models.known(wish.model)) is None:
                return _no_model(wish.model, models)
            teller = Teller(name, fill, wish.warnings)
            if wish.ask is None:
                if not wish.unload:
                    await wake()
                told = teller.nothing("unload", [STAYS]) if wish.unload else teller.nothing("load")
                return _lines(told) if wish.stream else replies.Json(told)
            if wish.stream:
                return _Stream(guests, wish.ask, teller, clock, keep_alive)
            return _Object(guests, wish.ask, teller, clock)

        return view

    async def tags(request: Request) -> ASGIApp:
        return replies.Json(models.listed())

    async def running(request: Request) -> ASGIApp:
        return replies.Json(models.running())

    async def show(request: Request) -> ASGIApp:
        name = wire.named(await body_of(request))
        return replies.Json(models.shown()) if models.known(name) else _no_model(name, models)

    async def version(request: Request) -> ASGIApp:
        return replies.Json({"version": VERSION, "muleteer": muleteer.__version__})

    async def root(request: Request) -> ASGIApp:
        return PlainTextResponse(RUNNING, headers={"vary": "accept"})

    async def other(request: Request) -> ASGIApp:
        why = REFUSED.get(str(request.path_params["rest"]).partition("/")[0])
        return _error(400, why) if why else _error(404, "There is no such path here.")

    return [
        Route("/api/chat", _told(talking(wire.chat, in_chat)), methods=["POST"]),
        Route("/api/generate", _told(talking(wire.generate, in_generate)), methods=["POST"]),
        Route("/api/tags", tags, methods=["GET"]),
        Route("/api/ps", running, methods=["GET"]),
        Route("/api/show", _told(show), methods=["POST"]),
        Route("/api/version", version, methods=["GET"]),
        Route("/api/{rest:path}", other, methods=["GET", "POST", "DELETE"]),
        _NotForBrowsers("/", root, methods=["GET"]),
    ]


class _NotForBrowsers(Route):
    """A path that browsers find something else at."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and "text/html" in Request(scope).headers.get("accept", ""):
            return Match.NONE, {}
        return super().matches(scope)


def _told(view: View) -> View:
    """The view, with errors of ours in Ollama's words."""

    async def answer(request: Request) -> ASGIApp:
        try:
            return await view(request)
        except MuleteerError as error:
            return _fault(error)

    return answer


def _fault(error: MuleteerError | TurnError) -> Response:
    status, sentence = fault(error)
    return replies.Json({"error": sentence}, status, replies.when(status, error))


def _error(status: int, sentence: str) -> Response:
    return replies.Json({"error": sentence}, status)


def _no_model(name: str, models: Models) -> Response:
    known = " and ".join(models.names) or "no model"
    return _error(404, NO_MODEL.format(name=name[:80], known=known))


def _lines(*objects: Json) -> Response:
    return Response(b"".join(map(line, objects)), media_type="application/x-ndjson")


class _Object:
    """The whole reply as one object."""

    def __init__(self, guests: Guests, ask: Ask, teller: Teller, clock: Clock) -> None:
        self._guests, self._ask, self._teller, self._clock = guests, ask, teller, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await while_connected(receive, self._response())
        await response(scope, receive, send)

    async def _response(self) -> Response:
        text, calls = "", list[Wanted]()
        try:
            async with self._guests.start(self._ask) as reply:
                self._clock.begun = time.monotonic()
                while not isinstance(part := await reply.next(), End):
                    self._clock.first = self._clock.first or time.monotonic()
                    if isinstance(part, str):
                        text += part
                    else:
                        calls += part
        except (MuleteerError, TurnError) as error:
            return _fault(error)
        return replies.Json(self._teller.end(part, self._clock, time.monotonic(), text, calls))


class _Stream:
    """The reply line by line. It begins with the first piece, or when there was none for a while: whatever
    fails before has its status; what fails later is the last line."""

    def __init__(self, guests: Guests, ask: Ask, teller: Teller, clock: Clock, keep_alive: float) -> None:
        self._guests, self._ask, self._teller, self._clock = guests, ask, teller, clock
        self._keep_alive = keep_alive
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(CancelledByClientError):  # nobody is left to be told
            if refusal := await while_connected(receive, self._stream(send)):
                await refusal(scope, receive, send)

    async def _stream(self, send: Send) -> Response | None:
        """All of it; or what is said instead, as long as nothing was said."""
        try:
            async with self._guests.start(self._ask) as reply:
                self._clock.begun = time.monotonic()
                last = False
                while not last:
                    fields, last = await self._piece(reply)
                    await self._send(send, fields, last)
        except (MuleteerError, TurnError) as error:
            if not self._begun:
                return _fault(error)
            await self._send(send, {"error": fault(error)[1]}, True)
        return None

    async def _piece(self, reply: Reply) -> tuple[Json, bool]:
        """What comes next, or a piece of nothing when nothing came for a while; whether it is the last."""
        try:
            async with asyncio.timeout(self._keep_alive):
                part = await reply.next()
        except TimeoutError:
            return self._teller.piece(""), False
        now = time.monotonic()
        if isinstance(part, End):
            return self._teller.end(part, self._clock, now), True
        self._clock.first = self._clock.first or now
        return (self._teller.piece(part) if isinstance(part, str) else self._teller.piece("", part)), False

    async def _send(self, send: Send, fields: Json, last: bool) -> None:
        if not self._begun:
            self._begun = True
            await send({"type": "http.response.start", "status": 200, "headers": LINES})
        await send({"type": "http.response.body", "body": line(fields), "more_body": not last})
