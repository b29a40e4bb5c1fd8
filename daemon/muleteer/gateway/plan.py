"""`POST /v1/plan`: what the planner would do with a message, and why. Nothing is run.

Knows the shapes on the wire: `{"message": ...}` in, a `Preview` with "@" before its handles out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.errors import EngineError
from muleteer.gateway import replies
from muleteer.gateway.health import Health
from muleteer.gateway.requests import LONGEST_MESSAGE, read_as
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.preview import Preview, preview

EXAMPLE = '{"message": "Is the kitchen light on?"}'


class Wanted(BaseModel):
    """The body."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str = Field(max_length=LONGEST_MESSAGE)


def plan_route(arranged: Callable[[], Arrangement], health: Health) -> Route:
    """Where a plan is shown; refused until the model is ready."""

    async def plan(request: Request) -> Response:
        wanted = await read_as(Wanted, request, EXAMPLE)
        state, reason = health.report()
        if state != "ready":
            raise EngineError(f"No plan can be made now ({state}): {reason.rstrip('.')}.")
        return replies.Json(_shown(await preview(arranged(), wanted.message)))

    return Route("/v1/plan", plan, methods=["POST"])


def _shown(found: Preview) -> dict[str, object]:
    body: dict[str, object] = asdict(found)
    body["handles"] = [f"@{handle}" for handle in found.handles]
    body["parts"] = [
        {**asdict(each), "handles": [f"@{handle}" for handle in each.handles]} for each in found.parts
    ]
    body["candidates"] = [{**asdict(each), "handle": f"@{each.handle}"} for each in found.candidates]
    body["ruled_out"] = {f"@{handle}": why for handle, why in found.ruled_out.items()}
    return body
