"""`/v1/seat`: who drives the household, and who belongs to it.

Knows the shapes on the wire. Whoever may use the Unix socket may change the household; over the network that
needs the scope `admin`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from muleteer.errors import SeatError
from muleteer.gateway import replies
from muleteer.gateway.requests import read_as


class Seen(Protocol):
    """What is told of the seat."""

    def report(self) -> Mapping[str, object]: ...
    def members(self) -> list[dict[str, object]]: ...


class Seated(Protocol):
    """What can be done with the seat; each raises `SeatError` with a sentence."""

    async def take(self) -> None: ...
    async def give(self) -> None: ...
    async def invite(self) -> Mapping[str, object]: ...
    async def join(self, code: str, address: str = "") -> None: ...
    async def forget(self, device: str) -> str: ...


class Joining(BaseModel):
    """The body of `POST /v1/seat/join`: the code, and where to ask for it (empty: found by mDNS)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: str = Field(max_length=64)
    address: str = Field("", max_length=256)


class Forgetting(BaseModel):
    """The body of `POST /v1/seat/forget`: an id, the beginning of one, or a name."""

    model_config = ConfigDict(extra="forbid", strict=True)

    device: str = Field(min_length=1, max_length=64)


def no_seat_routes(reason: str) -> list[BaseRoute]:
    """Where it would be, on a device that takes no part for this reason, a sentence."""

    async def absent(request: Request) -> Response:
        raise SeatError(reason)

    paths = ("/v1/seat", "/v1/seat/{what}")
    return [Route(path, absent, methods=["GET", "POST"]) for path in paths]


def seat_routes(seat: Seated, view: Seen) -> list[BaseRoute]:
    """Where the seat is looked at and moved."""

    async def shown(request: Request) -> Response:
        return replies.Json(view.report())

    async def members(request: Request) -> Response:
        return replies.Json({"members": view.members()})

    async def take(request: Request) -> Response:
        await seat.take()
        return replies.Json(view.report())

    async def give(request: Request) -> Response:
        await seat.give()
        return replies.Json(view.report())

    async def invite(request: Request) -> Response:
        return replies.Json(await seat.invite())

    async def join(request: Request) -> Response:
        body = await read_as(Joining, request, '{"code": "3f7a-482913"}')
        await seat.join(body.code, body.address)
        return replies.Json(view.report())

    async def forget(request: Request) -> Response:
        body = await read_as(Forgetting, request, '{"device": "3f7a"}')
        return replies.Json({"forgotten": await seat.forget(body.device)})

    return [
        Route("/v1/seat", shown),
        Route("/v1/seat/members", members),
        *(
            Route(f"/v1/seat/{name}", answer, methods=["POST"])
            for name, answer in (
                ("take", take),
                ("yield", give),
                ("invite", invite),
                ("join", join),
                ("forget", forget),
            )
        ),
    ]
