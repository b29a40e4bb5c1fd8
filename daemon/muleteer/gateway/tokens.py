"""`/v1/tokens` and `/v1/pair`: who may use this device over the network.

Knows the shapes on the wire. `auth.py` says that all of it needs `admin`, but for pairing itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from muleteer.errors import PairingError, RequestError, UnknownTokenError
from muleteer.gateway import replies
from muleteer.gateway.connected import CONNECTION, Connected
from muleteer.gateway.pairing import Pairing
from muleteer.gateway.peer import Scope, peer_of
from muleteer.gateway.requests import read_as
from muleteer.store.tokens import Tokens

Name = Annotated[str, Field(pattern=r"^[\w.-]{1,64}$")]
Hexadecimal = Annotated[str, Field(pattern=r"^[0-9a-f]*$", max_length=2048)]
Scopes = Annotated[list[Scope], Field(min_length=1, max_length=3)]
EXAMPLE = '{"name": "phone", "scopes": ["chat"]}'
NOT_OPEN = (
    "No client can connect over the network now. Set gateway.listen to lan or loopback in the settings, and "
    "start the daemon again; if it is set, `muleteer status` says what is wrong."
)


class NewToken(BaseModel):
    """The body of `POST /v1/tokens`, and of `POST /v1/pair/code`: there the client may choose the name."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Name | None = None
    scopes: Scopes = ["chat"]


class Attempt(BaseModel):
    """The body of `POST /v1/pair`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: str = Field(max_length=32)
    name: str = Field("", max_length=64)


class Step(BaseModel):
    """The body of `POST /v1/pair/exchange`: the first step, or the second."""

    model_config = ConfigDict(extra="forbid", strict=True)

    spake: Hexadecimal = ""
    exchange: Hexadecimal = ""
    box: Hexadecimal = ""


Revoked = Callable[[str, Connected], None]
Where = Callable[[], Awaitable[Mapping[str, object]]]


def token_routes(tokens: Tokens, pairing: Pairing | None, where: Where, revoked: Revoked) -> list[BaseRoute]:
    """`pairing` is None where no client can connect; `where` tells where one does. `revoked` is told which
    token is not valid any more, and on which connection that was asked for."""
    views = _Views(tokens, pairing, where, revoked)
    return [
        Route("/v1/tokens", views.listed, methods=["GET"]),
        Route("/v1/tokens", views.make, methods=["POST"]),
        Route("/v1/tokens/{name}", views.revoke, methods=["DELETE"]),
        Route("/v1/pair", views.pair, methods=["POST"]),
        Route("/v1/pair/exchange", views.exchange, methods=["POST"]),
        Route("/v1/pair/code", views.show, methods=["POST"]),
        Route("/v1/pair/code", views.shown, methods=["GET"]),
    ]


class _Views:
    def __init__(self, tokens: Tokens, pairing: Pairing | None, where: Where, revoked: Revoked) -> None:
        self._tokens, self._pairing, self._where, self._revoked = tokens, pairing, where, revoked

    async def listed(self, request: Request) -> Response:
        return replies.Json({"tokens": [token.as_dict() for token in self._tokens]})

    async def make(self, request: Request) -> Response:
        """The secret is in this reply and nowhere else."""
        body = await read_as(NewToken, request, EXAMPLE)
        if body.name is None:
            raise RequestError(f"The token needs a name; send a JSON object such as {EXAMPLE}.")
        secret = await self._tokens.add(body.name, body.scopes)
        return replies.Json({"token": secret, "name": body.name, "scopes": sorted(set(body.scopes))})

    async def revoke(self, request: Request) -> Response:
        """It counts no more before the disk is asked, and whatever that answers."""
        name = request.path_params["name"]
        if not self._tokens.cut(name):
            raise UnknownTokenError("There is no token of that name; `muleteer tokens` lists them.")
        self._revoked(name, request.scope["state"][CONNECTION])
        await self._tokens.keep_cut()
        return replies.Json({"revoked": name})

    async def show(self, request: Request) -> Response:
        body = await read_as(NewToken, request, EXAMPLE)
        code = self._open().show(body.name or "", frozenset(body.scopes))
        half = len(code.digits) // 2
        shown = f"{code.digits[:half]}-{code.digits[half:]}"
        return replies.Json({"code": shown, **self._open().state(), **await self._where()})

    async def shown(self, request: Request) -> Response:
        return replies.Json(self._open().state())

    async def pair(self, request: Request) -> Response:
        body = await read_as(Attempt, request, '{"code": "482-913", "name": "phone"}')
        digits = body.code.replace("-", "").replace(" ", "")
        return replies.Json(await self._open().redeem(digits, body.name, _address(request)))

    async def exchange(self, request: Request) -> Response:
        step = await read_as(Step, request, '{"spake": "53..."}')
        if step.exchange:
            return replies.Json(await self._open().end(step.exchange, step.box, _address(request)))
        return replies.Json(await self._open().begin(step.spake, _address(request)))

    def _open(self) -> Pairing:
        if self._pairing is None:
            raise PairingError(NOT_OPEN)
        return self._pairing


def _address(request: Request) -> str:
    return peer_of(request.scope).address
