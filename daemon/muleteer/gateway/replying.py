"""The course of a reply to a guest over HTTP: begun, said piece by piece or whole, ended. For every format.

Knows when something is said and when there is still a status to refuse with; a client that leaves ends its
turn. What is said in whose words is the teller's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from muleteer.errors import CancelledByClientError, MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.disconnect import while_connected
from muleteer.gateway.guests import End, Guests, Part, TurnError
from muleteer.harness.guests.ask import Ask, Wanted

Fault = MuleteerError | TurnError
Refusal = Callable[[Fault], Response]
View = Callable[[Request], Coroutine[None, None, ASGIApp]]


class Teller(Protocol):
    """Says one reply in a format's words. `headers` are those of a stream, which begins with `opening`."""

    @property
    def headers(self) -> Mapping[str, str]: ...
    def opening(self) -> bytes: ...
    def piece(self, part: Part) -> bytes: ...
    def silence(self) -> bytes:
        """A piece that says nothing but that the stream lives."""

    def failure(self, error: Fault) -> bytes:
        """The last piece of a stream that has begun."""

    def whole(self, text: str, calls: Sequence[Wanted], end: End) -> Mapping[str, object]: ...


def refusing(view: View, refusal: Refusal) -> View:
    """The view, with errors of ours told by `refusal`."""

    async def answer(request: Request) -> ASGIApp:
        try:
            return await view(request)
        except MuleteerError as error:
            return refusal(error)

    return answer


class Whole:
    """The whole reply as one object."""

    def __init__(self, guests: Guests, ask: Ask, teller: Teller, refusal: Refusal) -> None:
        self._guests, self._ask, self._teller, self._refusal = guests, ask, teller, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await while_connected(receive, self._response())
        await response(scope, receive, send)

    async def _response(self) -> Response:
        try:
            async with self._guests.start(self._ask) as reply:
                text, calls, end = await reply.whole()
        except (MuleteerError, TurnError) as error:
            return self._refusal(error)
        return replies.Json(self._teller.whole(text, calls, end))


class Stream:
    """The reply piece by piece. It begins with the first one, or when there was none for `keep_alive`
    seconds: whatever fails before has its status; what fails later is the last piece."""

    def __init__(self, guests: Guests, ask: Ask, teller: Teller, refusal: Refusal, keep_alive: float) -> None:
        self._guests, self._ask, self._teller, self._refusal = guests, ask, teller, refusal
        self._keep_alive = keep_alive
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(CancelledByClientError):  # nobody is left to be told
            if refusal := await while_connected(receive, self._stream(send)):
                await refusal(scope, receive, send)

    async def _stream(self, send: Send) -> Response | None:
        """All of it; or what is said instead, as long as nothing was said."""
        try:
            async with self._guests.start(self._ask) as reply:
                last = False
                while not last:
                    try:
                        async with asyncio.timeout(self._keep_alive):
                            part = await reply.next()
                    except TimeoutError:
                        body = self._teller.silence()
                    else:
                        body, last = self._teller.piece(part), isinstance(part, End)
                    await self._send(send, body, last)
        except (MuleteerError, TurnError) as error:
            if not self._begun:
                return self._refusal(error)
            await self._send(send, self._teller.failure(error), True)
        return None

    async def _send(self, send: Send, body: bytes, last: bool) -> None:
        if not self._begun:
            self._begun, body = True, self._teller.opening() + body
            headers = [(name.encode(), value.encode()) for name, value in self._teller.headers.items()]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": not last})
