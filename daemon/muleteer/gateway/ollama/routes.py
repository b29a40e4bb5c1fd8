"""The paths of Ollama's format: what comes in, and what answers it.

Knows HTTP. What a body means is in `wire.py`, what is said in `telling.py`, when in `replying.py`, and what a
turn does in `guests.py`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Scope

import muleteer
from muleteer.errors import MuleteerError
from muleteer.gateway import faults, peer, replies
from muleteer.gateway.guests import Guests, TurnError
from muleteer.gateway.ollama import wire
from muleteer.gateway.ollama.models import Models
from muleteer.gateway.ollama.telling import (
    LINES,
    NO_MODEL,
    Fill,
    Json,
    Teller,
    fault,
    in_chat,
    in_generate,
    line,
)
from muleteer.gateway.reading import Node, read
from muleteer.gateway.replying import Stream, View, Whole, refusing
from muleteer.gateway.requests import BODY_SECONDS, read_body

VERSION = "0.13.0"  # of Ollama, whose format this is; clients ask for a least one
RUNNING = "Ollama is running"  # what clients look for at /
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
            began = time.monotonic()
            wish = parse(await body_of(request), models.context, peer.current.get().id)
            if (name := models.known(wish.model)) is None:
                return _no_model(wish.model, models)
            teller = Teller(name, fill, began, wish.warnings)
            if wish.ask is None:
                if not wish.unload:
                    await wake()
                told = teller.nothing("unload", [STAYS]) if wish.unload else teller.nothing("load")
                return _lines(told) if wish.stream else replies.Json(told)
            if wish.stream:
                return Stream(guests, wish.ask, teller, _fault, keep_alive)
            return Whole(guests, wish.ask, teller, _fault)

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
        Route("/api/chat", refusing(talking(wire.chat, in_chat), _fault), methods=["POST"]),
        Route("/api/generate", refusing(talking(wire.generate, in_generate), _fault), methods=["POST"]),
        Route("/api/tags", tags, methods=["GET"]),
        Route("/api/ps", running, methods=["GET"]),
        Route("/api/show", refusing(show, _fault), methods=["POST"]),
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


def _fault(error: MuleteerError | TurnError) -> Response:
    status, sentence = fault(error)
    return replies.Json(faults.ollama(sentence), status, replies.when(status, error))


def _error(status: int, sentence: str) -> Response:
    return replies.Json(faults.ollama(sentence), status)


def _no_model(name: str, models: Models) -> Response:
    known = " and ".join(models.names) or "no model"
    return _error(404, NO_MODEL.format(name=name[:80], known=known))


def _lines(*objects: Json) -> Response:
    return Response(b"".join(map(line, objects)), media_type=LINES)
