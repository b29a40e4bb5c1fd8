"""A server that is asked over HTTP: the token it is shown, and how much it may send.

Knows headers and sizes; what a message means is the library's business.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

BODY_LIMIT = 4 << 20  # bytes of one JSON answer; the library limits events itself, and leaves these
CONNECT_SECONDS = 5.0
STREAM_SECONDS = 300.0  # without a byte on a stream of events; servers send comments more often


def client(secret: str) -> httpx2.AsyncClient:
    """An HTTP client for one server, which shows it the secret."""
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=STREAM_SECONDS)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=_Limited(), trust_env=False)


class _Limited(httpx2.AsyncHTTPTransport):
    """The usual transport, but a body that is no stream of events has an end."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Counted(response.stream)
        return response


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: object) -> None:
        if not isinstance(inner, httpx2.AsyncByteStream):
            raise TypeError("the transport is not asynchronous")
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = BODY_LIMIT
        async for piece in self._inner:
            left -= len(piece)
            if left < 0:
                raise httpx2.ReadError(f"an answer of more than {BODY_LIMIT:,} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
