"""`GET` and `PUT /v1/offline`: the offline switch over HTTP.

Knows the shapes on the wire: `{"mode": "auto"}` in, the switch's report out. What the modes mean is
`offline.py`'s business.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.errors import StorageError
from muleteer.gateway import replies
from muleteer.gateway.requests import read_as
from muleteer.offline import Switch


class Chosen(BaseModel):
    """The body of `PUT /v1/offline`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    mode: Literal["auto", "on", "off"]


def offline_route(switch: Switch) -> Route:
    """Where the switch is read and set."""

    async def answer(request: Request) -> Response:
        if request.method == "PUT":
            chosen = await read_as(Chosen, request, '{"mode": "on"}')
            try:
                await switch.set(chosen.mode)
            except OSError as error:
                raise StorageError(
                    f"The choice could not be kept ({error.strerror or error}), so nothing has changed; "
                    "look at the state folder."
                ) from error
        return replies.Json(switch.report())

    return Route("/v1/offline", answer, methods=["GET", "PUT"])
