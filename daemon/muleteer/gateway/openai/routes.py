"""The paths of OpenAI's format: what comes in, and what answers it.

Knows HTTP. What a body means is in `wire.py`, what is said in `telling.py`, when in `replying.py`, and what a
turn does in `guests.py`.
"""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from muleteer.errors import MuleteerError
from muleteer.gateway import peer, replies
from muleteer.gateway.guests import DEFAULT, Guests, TurnError
from muleteer.gateway.openai.telling import Fault, Head, Teller, fault_of
from muleteer.gateway.openai.wire import completion
from muleteer.gateway.reading import read
from muleteer.gateway.replying import Stream, Whole, refusing
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
        teller = Teller(Head.new(time.time(), asked.model), asked.include_usage)
        if asked.stream:
            return Stream(guests, asked.ask, teller, _told, keep_alive)
        return Whole(guests, asked.ask, teller, _told)

    async def models(request: Request) -> ASGIApp:
        return replies.Json({"object": "list", "data": [described(name) for name in guests.names]})

    async def model(request: Request) -> ASGIApp:
        name = str(request.path_params["name"])
        fault = _unknown(name, guests)
        return _refusal(fault) if fault else replies.Json(described(name))

    async def embeddings(request: Request) -> ASGIApp:
        return _refusal(Fault(404, "unsupported", NO_EMBEDDINGS))

    return [
        Route("/v1/embeddings", refusing(embeddings, _told), methods=["POST"]),
        Route("/v1/chat/completions", refusing(chat, _told), methods=["POST"]),
        Route("/v1/models", refusing(models, _told), methods=["GET"]),
        Route("/v1/models/{name:path}", refusing(model, _told), methods=["GET"]),
    ]


def _unknown(name: str, guests: Guests) -> Fault | None:
    if name in guests.names:
        return None
    known = " or ".join(f"`{each}`" for each in guests.names)
    return Fault(404, "model_not_found", NO_MODEL.format(name=name[:80], known=known), "model")


def _told(error: MuleteerError | TurnError) -> Response:
    return _refusal(fault_of(error))


def _refusal(fault: Fault) -> Response:
    return replies.Json(fault.fields(), fault.status, fault.headers())
