"""The daemon's HTTP interface: which paths there are and what each says.

Knows the parts it reports on by what it needs of them. The listening socket, reading requests, writing
replies and running turns are in the files beside it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

import muleteer
from muleteer import session
from muleteer.engine.protocol import Message, Use
from muleteer.errors import CancelledByClientError, EngineError, MuleteerError
from muleteer.footprint import footprint
from muleteer.gateway import listings, replies
from muleteer.gateway.health import Health, Supervised
from muleteer.gateway.metrics import Watched, metrics_route
from muleteer.gateway.openapi.document import openapi_route
from muleteer.gateway.peer import peer_of
from muleteer.gateway.requests import BODY_SECONDS, ConfirmRequest, read_as, read_turn, wants_stream
from muleteer.gateway.running import Turn
from muleteer.gateway.tally import Counted, Requests
from muleteer.gateway.turns import Turns
from muleteer.skills import Catalogue

Report = Callable[[], Mapping[str, object]]

STOPPED = "The turn was stopped, as somebody asked."


async def no_history(session: str) -> Sequence[Message]:
    """Where no sessions are kept."""
    return ()


@dataclass(frozen=True, slots=True)
class Gateway:
    """Everything the interface speaks for. `model` is its configured name, `sections` what further parts add
    to the status, by name, `routes` what they answer, `history` what was said in a session, by its key.
    `seat` tells of this device's part in the household, `connections` of those that are open, by listener.
    `started` in monotonic seconds, `keep_alive` and `body` limits in seconds."""

    turns: Turns
    health: Health
    engine: Supervised
    catalogue: Callable[[], Catalogue]
    model: str
    socket: Path
    sections: Mapping[str, Report] = field(default_factory=dict)
    routes: Sequence[BaseRoute] = ()
    history: Callable[[str], Awaitable[Sequence[Message]]] = no_history
    seat: Report = dict
    connections: Callable[[], Mapping[str, int]] = dict
    keep_alive: float = replies.KEEP_ALIVE_SECONDS
    body: float = BODY_SECONDS
    started: float = field(default_factory=time.monotonic)


def build_app(gateway: Gateway) -> Starlette:
    """The ASGI application."""
    views, requests = _Views(gateway), Requests()
    told = {**gateway.sections, "seat": gateway.seat}
    watched = Watched(gateway.turns, gateway.health, gateway.engine, requests, told, gateway.connections)
    routes: list[BaseRoute] = [
        Route("/v1/turns", views.turns, methods=["POST"]),
        Route("/v1/turns", views.recent, methods=["GET"]),
        Route("/v1/turns/{turn}", views.turn, methods=["GET"]),
        Route("/v1/turns/{turn}", views.cancel, methods=["DELETE"]),
        Route("/v1/turns/{turn}/cancel", views.cancel, methods=["POST"]),
        Route("/v1/turns/{turn}/confirm", views.confirm, methods=["POST"]),
        Route("/v1/turns/{turn}/events", views.events, methods=["GET"]),
        metrics_route(watched),
        Route("/v1/status", views.status),
        Route("/v1/skills", views.skills),
        Route("/v1/tools", views.tools),
        Route("/healthz", views.healthz),
        *gateway.routes,
    ]
    app = Starlette(
        routes=[*routes, openapi_route(routes)],
        exception_handlers={
            MuleteerError: replies.on_fault,
            ClientDisconnect: replies.on_hang_up,
            HTTPException: replies.on_http_error,
            Exception: replies.on_crash,
        },
    )
    app.router.redirect_slashes = False
    app.add_middleware(Counted, requests=requests)
    requests.know(app.routes)
    return app


def _reuse(totals: Use) -> float | None:
    """The share of prompt tokens that were not decoded again; None before the first prompt."""
    return round(totals.reused / totals.prompt, 4) if totals.prompt else None


class _Views:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def turns(self, request: Request) -> ASGIApp:
        """Run a turn: server-sent events, or one JSON object."""
        turn = await read_turn(request, self._gateway.body)
        owner = peer_of(request.scope).keeper
        session.begin(turn.session, owner)
        kept, key = turn.history is None, session.key_of(turn.session, owner)
        history = await self._gateway.history(key) if kept else turn.messages()
        begin = partial(self._gateway.turns.start, turn.message, history, turn.confirm, turn.brain)
        return self._reply(wants_stream(turn, request.headers.get("accept", "")), begin)

    async def confirm(self, request: Request) -> ASGIApp:
        """Go on with a turn that ended in a question."""
        answer = await read_as(ConfirmRequest, request, '{"confirm": true}')
        session.begin(answer.session, peer_of(request.scope).keeper)
        turn = request.path_params["turn"]
        begin = partial(self._gateway.turns.confirm, turn, answer.confirm)
        return self._reply(wants_stream(answer, request.headers.get("accept", "")), begin)

    async def recent(self, request: Request) -> Response:
        """The last turns, without what was said."""
        return replies.Json({"turns": self._gateway.turns.recent.listed(peer_of(request.scope))})

    async def turn(self, request: Request) -> Response:
        """Everything about one of the last turns."""
        return self._shown(request, self._asked(request))

    async def events(self, request: Request) -> ASGIApp:
        """The events of a turn that somebody began, from the first one on. Who only follows can go away."""
        following = self._asked(request).follow()
        return replies.TurnStream(lambda: nullcontext(following), self._gateway.keep_alive)

    async def cancel(self, request: Request) -> Response:
        """End a turn now, with an event that says so; one that has ended stays as it is."""
        turn = self._asked(request)
        turn.end(CancelledByClientError(STOPPED))
        return self._shown(request, turn)

    def _shown(self, request: Request, turn: Turn) -> Response:
        return replies.Json(self._gateway.turns.recent.shown(turn, peer_of(request.scope)))

    def _asked(self, request: Request) -> Turn:
        return self._gateway.turns.recent.get(request.path_params["turn"], peer_of(request.scope))

    def _reply(self, stream: bool, begin: replies.Begin) -> ASGIApp:
        return replies.TurnStream(begin, self._gateway.keep_alive) if stream else replies.TurnObject(begin)

    async def status(self, request: Request) -> Response:
        gateway = self._gateway
        state, reason = gateway.health.report()
        engine = gateway.engine.status()
        return replies.Json(
            {
                "version": muleteer.__version__,
                "state": state,
                "reason": reason,
                "uptime_s": round(time.monotonic() - gateway.started, 1),
                "pid": os.getpid(),
                "socket": str(gateway.socket),
                "model": engine.properties.name if engine.properties else gateway.model,
                "engine": asdict(engine),
                "reuse": _reuse(engine.totals),
                "memory": footprint(engine.pid),
                "turns": gateway.turns.counts(),
                **{name: report() for name, report in gateway.sections.items()},
            }
        )

    async def healthz(self, request: Request) -> Response:
        """200 when a turn can be served now."""
        state, reason = self._gateway.health.report()
        if state != "ready":
            return replies.error_reply(
                EngineError(f"No turn can be served now ({state}): {reason.rstrip('.')}.")
            )
        return replies.Json({"state": state})

    async def skills(self, request: Request) -> Response:
        return replies.Json(listings.list_skills(self._gateway.catalogue()))

    async def tools(self, request: Request) -> Response:
        return replies.Json(listings.list_tools(self._gateway.catalogue()))
