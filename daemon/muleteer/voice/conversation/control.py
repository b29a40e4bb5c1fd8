"""The voice process's own interface, on a Unix socket: what it does, muting it, and making it speak.

Knows the shapes on the wire. It works without a daemon, and so does muting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.requests import read_as

LONGEST_TEXT = 2000  # characters to be said; two minutes


class Sayable(BaseModel):
    """The body of `POST /v1/voice/say`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)


class Controlled(Protocol):
    """What is controlled. `mute` raises `StorageError`."""

    def report(self) -> Mapping[str, object]: ...
    async def mute(self, muted: bool) -> None: ...
    def say(self, text: str) -> None: ...
    def hush(self) -> None: ...


def control_app(voice: Controlled) -> Starlette:
    """The ASGI application. Each path answers with the state after it."""

    def post(path: str, change: Callable[[Request], Awaitable[None]]) -> Route:
        async def answer(request: Request) -> Response:
            await change(request)
            return replies.Json(voice.report())

        return Route(f"/v1/voice/{path}", answer, methods=["POST"])

    async def status(request: Request) -> Response:
        return replies.Json(voice.report())

    async def say(request: Request) -> None:
        voice.say((await read_as(Sayable, request, '{"text": "Dinner is ready."}')).text)

    async def hush(request: Request) -> None:
        voice.hush()

    app = Starlette(
        routes=[
            Route("/v1/voice", status),
            post("mute", lambda request: voice.mute(True)),
            post("unmute", lambda request: voice.mute(False)),
            post("say", say),
            post("hush", hush),
        ],
        exception_handlers={
            MuleteerError: replies.on_fault,
            ClientDisconnect: replies.on_hang_up,
            HTTPException: replies.on_http_error,
            Exception: replies.on_crash,
        },
    )
    app.router.redirect_slashes = False
    return app
