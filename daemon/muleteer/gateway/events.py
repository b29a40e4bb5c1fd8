"""`GET /v1/events`: what happens in the daemon, to nobody's turn, as server-sent events until it stops.

Knows the wire format. What happens is said by those who publish it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from muleteer.broadcast import MOST_LISTENERS, Broadcast, Listener, TooManyListenersError
from muleteer.errors import CancelledByClientError, EngineBusyError, TooManyError
from muleteer.gateway import replies
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.ears import Ears
from muleteer.gateway.peer import peer_of

EACH = 8  # streams of one token: a person's pages and programs
NETWORK = MOST_LISTENERS - 10  # of all tokens: some are for programs on the Unix socket and our own parts


class EventStream:
    """Every event from now on, and a comment where nothing happens for `keep_alive` seconds."""

    def __init__(self, broadcast: Broadcast, ears: Ears, keep_alive: float) -> None:
        self._broadcast, self._ears, self._keep_alive = broadcast, ears, keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with (
                self._ears.taken(peer_of(scope)),
                self._broadcast.listen() as listener,
                suppress(CancelledByClientError),
            ):
                await while_connected(receive, self._stream(listener, send))
        except TooManyError as error:
            await replies.error_reply(error)(scope, receive, send)
        except TooManyListenersError:
            busy = EngineBusyError("Too many programs listen for events already; stop one of them.")
            await replies.error_reply(busy)(scope, receive, send)

    async def _stream(self, listener: Listener, send: Send) -> None:
        headers = [(name.encode(), value.encode()) for name, value in replies.EVENT_STREAM.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        body: bytes | None = b": listening\n\n"
        while body is not None:
            await send({"type": "http.response.body", "body": body, "more_body": True})
            body = await self._piece(listener)
        await send({"type": "http.response.body", "body": b""})

    async def _piece(self, listener: Listener) -> bytes | None:
        """The next event, or a comment; None at the end."""
        try:
            async with asyncio.timeout(self._keep_alive):
                notice = await listener.next()
        except TimeoutError:
            return b": keep-alive\n\n"
        if notice is None:
            return None
        lost = b": %d events were dropped, read faster\n\n" % notice.dropped if notice.dropped else b""
        return lost + replies.encode_fields(notice.name, notice.fields)


def events_route(broadcast: Broadcast, keep_alive: float = replies.KEEP_ALIVE_SECONDS) -> BaseRoute:
    """Where the events are heard."""

    ears = Ears(EACH, NETWORK, MOST_LISTENERS)

    async def events(request: Request) -> ASGIApp:
        return EventStream(broadcast, ears, keep_alive)

    return Route("/v1/events", events)
