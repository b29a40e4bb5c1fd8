"""What a device that is spoken to needs of the daemon beside turns: `POST /v1/warm` and `GET /v1/names`.

Knows the shapes on the wire. Warming is a hint: it is answered at once, done at most once at a time, and a
turn that needs the prompt meanwhile shares its work.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from muleteer.catalogue.offering import OTHER
from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.health import Health
from muleteer.harness.arrangement import Arrangement
from muleteer.services import Absent, Naming, Services

log = logging.getLogger(__name__)

REST_SECONDS = 1.0  # after warming; people do not begin to speak more often
WARM_SECONDS = 60.0  # to load a model that was unloaded and bring the prompt back
MOST_NAMES = 128  # a recogniser's prompt takes fewer
KINDS = ("switches", "readings", "devices", "receivers")  # of names at serial ports, the likeliest first


class Warmer:
    """Has the planner's prompt decoded and the model loaded, in a task of its own. `now` tells seconds."""

    def __init__(
        self,
        arranged: Callable[[], Arrangement],
        health: Health,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._arranged, self._health, self._now = arranged, health, now
        self._task: asyncio.Task[None] | None = None
        self._rests_until = 0.0

    def begin(self) -> bool:
        """Whether that is begun now; not where it is going on, was just done, or nothing can be asked."""
        busy = self._task is not None and not self._task.done()
        if busy or self._now() < self._rests_until or self._health.report()[0] != "ready":
            return False
        self._task = asyncio.create_task(self._warm(), name="warming for a turn to come")
        return True

    async def _warm(self) -> None:
        try:
            async with asyncio.timeout(WARM_SECONDS):
                await self._arranged().warm()
        except (MuleteerError, TimeoutError) as error:  # the turn itself will tell, if it comes
            log.debug("The planner's prompt was not warmed: %s", error)
        finally:
            self._rests_until = self._now() + REST_SECONDS


def speaking_routes(
    arranged: Callable[[], Arrangement], services: Services, health: Health
) -> list[BaseRoute]:
    """Where both are asked for."""
    warmer = Warmer(arranged, health)
    serial = cast(Naming | Absent, services.serial)

    async def warm(request: Request) -> Response:
        return replies.Json({"warming": warmer.begin()})

    async def names(request: Request) -> Response:
        found = dict.fromkeys(_names(arranged(), serial))
        return replies.Json({"names": list(found)[:MOST_NAMES]})

    return [
        Route("/v1/warm", warm, methods=["POST"]),
        Route("/v1/names", names, methods=["GET"]),
    ]


def _names(arranged: Arrangement, serial: Naming | Absent) -> Iterator[str]:
    """What people are likely to say here: things at the device, what tools offer to choose from, skills."""
    if not isinstance(serial, Absent):
        for kind in KINDS:
            yield from serial.names(kind)
    for tool in arranged.catalogue.toolbox.tools.values():
        for schema in tool.parameters.get("properties", {}).values():
            choices = schema.get("enum", ()) if isinstance(schema, dict) else ()
            yield from (each for each in choices if isinstance(each, str) and each and each != OTHER)
    yield from (name.replace("-", " ") for name in arranged.catalogue.skills)
