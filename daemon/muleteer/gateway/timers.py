"""`/v1/timers`: what is set, what was missed, cancelling one, and silencing those that ring.

Knows the shapes on the wire. Times are local with their offset; weekdays are numbers, 0 is Monday.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from muleteer.errors import StorageError, UnknownTimerError
from muleteer.gateway import replies
from muleteer.services import PendingTimer, Timers

MOST_DIGITS = 18  # of a timer's number; SQLite's rows have no more


def timer_routes(timers: Timers, silence: Callable[[], None] = lambda: None) -> list[BaseRoute]:
    """Where timers are listed and cancelled, and `silence` is called. Listing does not count as having been
    told what was missed."""

    async def listed(request: Request) -> Response:
        try:
            pending = await timers.pending()
        except OSError as error:
            raise _unusable(error) from error
        missed = [{"id": each.id, "label": each.label, "due": _iso(each.due)} for each in pending.missed]
        return replies.Json(
            {
                "timers": [fields(each) for each in pending.timers],
                "missed": missed,
                "unreadable": pending.unreadable,
            }
        )

    async def cancelled(request: Request) -> Response:
        given = request.path_params["number"]
        known = given.isascii() and given.isdecimal() and len(given) <= MOST_DIGITS
        try:
            gone = await timers.cancel([int(given)]) if known else []
        except OSError as error:
            raise _unusable(error) from error
        if not gone:
            raise UnknownTimerError(
                f"No timer has the number {given[:MOST_DIGITS]}; GET /v1/timers lists those that are set."
            )
        return replies.Json({"cancelled": fields(gone[0])})

    async def silenced(request: Request) -> Response:
        silence()
        return replies.Json({"silenced": True})

    return [
        Route("/v1/timers", listed),
        Route("/v1/timers/silence", silenced, methods=["POST"]),
        Route("/v1/timers/{number}", cancelled, methods=["DELETE"]),
    ]


def fields(timer: PendingTimer) -> dict[str, object]:
    """One timer as JSON has it."""
    return {
        "id": timer.id,
        "kind": "timer" if timer.seconds else "alarm",
        "label": timer.label,
        "due": _iso(timer.due),
        "left_s": round(timer.left, 1),
        "seconds": timer.seconds,
        "repeat": sorted(timer.repeat),
    }


def _iso(moment: datetime) -> str:
    return moment.astimezone().isoformat(timespec="seconds")


def _unusable(error: OSError) -> StorageError:
    return StorageError(f"Timers are not available: {error}")
