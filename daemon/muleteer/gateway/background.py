"""`/v1/background`: run a skill for the slot that is due; `/v1/inbox`: what background turns came to.

Knows the shapes on the wire. The answer to a run comes when it has ended, which may take as long as it may
wait; a client that goes away ends it.
"""

from __future__ import annotations

from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from muleteer.background.runner import Background
from muleteer.errors import CancelledByClientError, MuleteerError, RequestError, StorageError
from muleteer.gateway import replies
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.requests import read_as
from muleteer.services import Inbox, InboxEntry

MOST_ENTRIES = 500  # of one answer
EXAMPLE = '{"skill": "daily-brief"}'


class RunRequest(BaseModel):
    """The body of `POST /v1/background`. `now`: whatever the schedule says."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skill: str = Field(max_length=64)
    now: bool = False


class ReadRequest(BaseModel):
    """The body of `POST /v1/inbox/read`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ids: list[str] = Field(max_length=MOST_ENTRIES)


def background_routes(background: Background, inbox: Inbox) -> list[BaseRoute]:
    """Where background turns are asked for and their results read."""

    async def run(request: Request) -> ASGIApp:
        body = await read_as(RunRequest, request, EXAMPLE)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                work = background.run(body.skill.removeprefix("@"), body.now)
                reply: Response = replies.Json(asdict(await while_connected(receive, work)))
            except CancelledByClientError:
                return
            except MuleteerError as error:
                reply = replies.error_reply(error)
            except OSError as error:
                reply = replies.error_reply(StorageError(f"It could not be run: {error}"))
            await reply(scope, receive, send)

        return answer

    async def listed(request: Request) -> Response:
        query = request.query_params
        limit = query.get("limit", "50")
        if not limit.isascii() or not limit.isdecimal() or not 0 < int(limit[:6]) <= MOST_ENTRIES:
            raise RequestError(f"limit must be a number from 1 to {MOST_ENTRIES}.")
        if (unread := query.get("unread", "false")) not in ("true", "false"):
            raise RequestError("unread must be true or false.")
        try:
            entries = await inbox.entries(int(limit), unread == "true")
        except OSError as error:
            raise StorageError(f"The inbox cannot be read: {error}") from error
        return replies.Json({"entries": [_fields(each) for each in entries]})

    async def mark(request: Request) -> Response:
        body = await read_as(ReadRequest, request, '{"ids": ["..."]}')
        try:
            return replies.Json({"read": await inbox.read(body.ids)})
        except OSError as error:
            raise StorageError(f"The inbox cannot be kept: {error}") from error

    return [
        Route("/v1/background", run, methods=["POST"]),
        Route("/v1/inbox", listed),
        Route("/v1/inbox/read", mark, methods=["POST"]),
    ]


def _fields(entry: InboxEntry) -> dict[str, object]:
    return asdict(entry) | {"when": entry.when.isoformat(timespec="seconds")}
