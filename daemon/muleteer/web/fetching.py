"""Fetching one page: within a time and a size, redirect by redirect, from machines that may be reached.

Knows HTTP by way of httpx; `addresses.py` decides where it may go, `pages.py` what the bytes say. Nothing is
kept from one page to the next, and nothing of this device is told to the server.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

import httpx

import muleteer
from muleteer.calling.threads import in_thread
from muleteer.services import Page
from muleteer.web import addresses
from muleteer.web.addresses import Place, RefusedError, Resolve

if TYPE_CHECKING:
    from muleteer.web.pages import Readable

REDIRECTS = 5  # that are followed; browsers follow 20, and real pages need two or three
REDIRECTING = (301, 302, 303, 307, 308)
CONNECT_SECONDS = 5.0  # for one address of a name, so that a dead first one leaves time for the next
GONE = (404, 410)
KINDS = "text/html, application/json, text/plain, text/*;q=0.9, application/xml;q=0.8"
HEADERS = {
    "user-agent": f"muleteer/{muleteer.__version__}",
    "accept": KINDS,
    "accept-encoding": "gzip",
    "connection": "close",
}
CONVERSIONS = (
    2  # pages turned into text at once, also of calls that were given up; more would hold up all else
)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one server said: a page's body, or where else to look (then `location`)."""

    status: int
    content_type: str = ""
    body: bytes = b""
    cut: bool = False
    location: str = ""


class WebReader:
    """Reads web pages. `private` lets it into the own network, `allow` to these hosts there; `seconds` is for
    one page in all, `size` the bytes of it that are read. `tls` is the system's if not given."""

    def __init__(
        self,
        private: bool = False,
        allow: Sequence[str] = (),
        seconds: float = 15.0,
        size: int = 1 << 20,
        resolve: Resolve = addresses.system_resolve,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.limit(private, allow, seconds, size)
        self._resolve, self._tls = resolve, tls
        self._converting = 0

    def limit(self, private: bool, allow: Sequence[str], seconds: float, size: int) -> None:
        """What counts from the next page on."""
        self._private, self._allow = private, allow
        self._seconds, self._size = seconds, size

    async def get(self, url: str) -> Page:
        """The page as text. Raises `ValueError` when it must not or can never be read, `FileNotFoundError`
        when there is none, any other `OSError` when it could not be looked at; each with a sentence."""
        meant = addresses.parse(url)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._get(meant)
        except TimeoutError:
            raise OSError(f"{meant.host} took longer than {self._seconds:g} s.") from None

    async def _get(self, url: httpx.URL) -> Page:
        seen: set[str] = set()
        for _ in range(REDIRECTS + 1):
            if str(url) in seen:
                raise OSError(f"{url.host} sends its readers round in a circle.")
            seen.add(str(url))
            answer = await self._ask(await self._place(url))
            if not answer.location:
                return await self._page(url, answer)
            try:
                url = addresses.check(url.join(answer.location))
            except (httpx.InvalidURL, RefusedError) as error:
                raise RefusedError(
                    f"{url.host} sends its readers to a place that is not read: {error}"
                ) from None
        raise OSError(f"{url.host} sends its readers on more than {REDIRECTS} times.")

    async def _place(self, url: httpx.URL) -> Place:
        try:
            return await addresses.place(url, self._private, self._allow, self._resolve)
        except RefusedError:
            raise
        except OSError as error:
            raise OSError(f"I could not reach {url.host}: {error}.") from error

    async def _ask(self, place: Place) -> _Answer:
        """The answer of the first address that can be connected to."""
        last = ""
        for address in place.addresses:
            try:
                return await self._ask_at(place.url, address)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                last = _in_words(error)
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                if isinstance(error, RefusedError):
                    raise
                raise OSError(
                    f"{place.url.host} does not answer as a web server: {_in_words(error)}."
                ) from error
        raise OSError(f"I could not reach {place.url.host}: {last}.")

    async def _ask_at(self, url: httpx.URL, address: str) -> _Answer:
        """One request to one address; the name goes into the Host header and into the TLS handshake."""
        if url.scheme == "https" and self._tls is None:
            self._tls = await in_thread(
                lambda: httpx.create_ssl_context(trust_env=False), "read certificates", lambda: None
            )
        request = httpx.Request(
            "GET",
            url.copy_with(host=address),
            headers={**HEADERS, "host": url.netloc.decode("ascii")},
            extensions={
                "sni_hostname": url.raw_host.decode("ascii"),
                "timeout": httpx.Timeout(self._seconds, connect=CONNECT_SECONDS).as_dict(),
            },
        )
        # Without the environment: a proxy named there would look names up again, unchecked.
        async with httpx.AsyncHTTPTransport(verify=self._tls or False, trust_env=False) as transport:
            response = await transport.handle_async_request(request)
            try:
                return await self._read(url, response)
            finally:
                await response.aclose()

    async def _read(self, url: httpx.URL, response: httpx.Response) -> _Answer:
        status, headers = response.status_code, response.headers
        if status in REDIRECTING and headers.get("location"):
            return _Answer(status, location=headers["location"])
        if status in GONE:
            raise FileNotFoundError(f"{url.host} has no page at that address.")
        if status != HTTPStatus.OK:
            phrase = httpx.codes.get_reason_phrase(status)
            raise OSError(f"{url.host} refused with {status} {phrase}".rstrip() + ".")
        pieces = response.stream
        if not isinstance(pieces, httpx.AsyncByteStream):
            raise TypeError("the transport is not asynchronous")
        body, cut = await _at_most(self._size, aiter(pieces), headers.get("content-encoding", ""))
        return _Answer(status, headers.get("content-type", ""), body, cut)

    async def _page(self, url: httpx.URL, answer: _Answer) -> Page:
        """The text, found in a thread: a page can be made to take long."""
        if self._converting >= CONVERSIONS:
            raise OSError("Other pages are still being read; ask again soon.")

        def convert() -> Readable:
            from muleteer.web.pages import readable  # here, since lxml is large and few devices read pages

            return readable(answer.body, answer.content_type, answer.cut)

        def done() -> None:
            self._converting -= 1

        self._converting += 1
        try:
            found = await in_thread(convert, "read a page", done)
        except ValueError as error:
            raise ValueError(f"What is at {url.host} is not text but {error}.") from error
        return Page(str(url), found.title, found.text, answer.cut or found.cut)


async def _at_most(limit: int, pieces: AsyncIterator[bytes], encoding: str) -> tuple[bytes, bool]:
    """At most so many bytes of a body, unpacked, and whether there are more. What is packed is counted as
    well, since it can unpack to nothing without an end. Raises `ValueError`."""
    if encoding.lower().strip() not in ("", "identity", "gzip", "x-gzip"):
        raise ValueError(f"it packs its pages as {encoding[:20]}")
    packed = bool(encoding.strip()) and encoding.lower() != "identity"
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    body, taken = bytearray(), 0
    async for piece in pieces:
        taken += len(piece)
        try:
            body += unpacking.decompress(piece, limit - len(body) + 1) if packed else piece
        except zlib.error as error:
            raise ValueError(f"it sent packed data that is damaged ({error})") from error
        if len(body) > limit or taken > limit:
            return bytes(body[:limit]), True
        if packed and unpacking.eof:
            break
    return bytes(body), packed and not unpacking.eof


def _in_words(error: Exception) -> str:
    """Why a server could not be talked to, in a few words."""
    if isinstance(error, httpx.TimeoutException):
        return "it does not answer in time"
    words = " ".join(str(error).split()).rstrip(".")[:160]
    return words or type(error).__name__
