"""`POST /v1/skills/HANDLE` and `/v1/tools/HANDLE`: on, off, or another name.

Knows the shapes on the wire: `{"enabled": false}` or `{"name": "clock"}` in, its listing out.
What follows from a wish is `catalogue/renewal.py`'s business.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.catalogue.steering import KINDS, Kind
from muleteer.errors import LoadingError, RequestError
from muleteer.gateway import replies
from muleteer.gateway.health import RETRY_SECONDS, Health
from muleteer.gateway.listings import list_skills, list_tools
from muleteer.gateway.requests import read_as
from muleteer.skills import Catalogue

EXAMPLE = '{"enabled": false}'


class Steers(Protocol):
    """The part of `Renewal` that is used here. `switch` and `rename` return the handle that it has then."""

    @property
    def catalogue(self) -> Catalogue: ...
    async def switch(self, kind: Kind, handle: str, on: bool) -> str: ...
    async def rename(self, kind: Kind, handle: str, new: str) -> str: ...


class Wish(BaseModel):
    """The body: one of the two."""

    model_config = ConfigDict(extra="forbid", strict=True)

    enabled: bool | None = None
    name: str | None = None


def steering_routes(steers: Steers, health: Health) -> list[Route]:
    """Where skills and tools are steered. Until the model is loaded nothing can be measured, so nothing is
    changed."""

    def route(kind: Kind) -> Route:
        async def steer(request: Request) -> Response:
            wish = await read_as(Wish, request, EXAMPLE)
            state, reason = health.report()
            if state in ("starting", "loading"):
                raise LoadingError(f"Not ready yet: {reason}; ask again soon.", RETRY_SECONDS)
            handle = await _carry_out(steers, kind, request.path_params["handle"], wish)
            listed = list_skills(steers.catalogue) if kind == "skills" else list_tools(steers.catalogue)
            return replies.Json(next(each for each in listed[kind] if each["handle"] == handle))

        return Route(f"/v1/{kind}/{{handle}}", steer, methods=["POST"])

    return [route(kind) for kind in KINDS]


def _carry_out(steers: Steers, kind: Kind, handle: str, wish: Wish) -> Awaitable[str]:
    if wish.enabled is not None and wish.name is None:
        return steers.switch(kind, handle, wish.enabled)
    if wish.name is not None and wish.enabled is None:
        return steers.rename(kind, handle, wish.name)
    raise RequestError(f'The body must hold either "enabled" or "name"; send an object such as {EXAMPLE}.')
