"""`POST /v1/tools/NAME/call`: one tool, called by hand.

Knows the shapes on the wire: `{"arguments": {...}, "confirm": true}` in; status, text, payload and
milliseconds out. The person who calls is the one who would be asked, so a change wants `confirm`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.catalogue.declared import name_of
from muleteer.errors import RequestError
from muleteer.gateway import replies
from muleteer.gateway.requests import read_as
from muleteer.skills import Catalogue
from muleteer.tool import Data, Document, Payload
from muleteer.toolbox import Outcome

EXAMPLE = '{"arguments": {"place": "Istanbul"}}'


class Call(BaseModel):
    """The body. `confirm` is a yes to a tool that writes or acts on a device."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: dict[str, object] = {}
    confirm: bool = False


def call_route(catalogue: Callable[[], Catalogue]) -> Route:
    """Where a tool is called by its name or handle; an unknown one is a result like any other."""

    async def call(request: Request) -> Response:
        given = await read_as(Call, request, EXAMPLE)
        toolbox = catalogue().toolbox
        name = name_of(request.path_params["name"].removeprefix("@"))
        tool = toolbox.tools.get(name)
        if tool is not None and tool.effect != "read" and not given.confirm:
            raise RequestError(f'{name} has the effect "{tool.effect}"; send "confirm": true to call it.')
        return replies.Json(shown(await toolbox.call(name, given.arguments)))

    return Route("/v1/tools/{name}/call", call, methods=["POST"])


def shown(outcome: Outcome) -> dict[str, object]:
    """A finished call, as clients see it."""
    result = outcome.result
    return {
        "tool": outcome.tool,
        "status": result.status.value,
        "text": result.text,
        "payload": _payload(result.payload),
        "sources": list(result.sources),
        "ms": round(outcome.ms, 1),
    }


def _payload(payload: Payload | None) -> dict[str, object] | None:
    if payload is None:
        return None
    kind = {Data: "data", Document: "document"}.get(type(payload), "notes")
    return {"kind": kind, **asdict(payload)}
