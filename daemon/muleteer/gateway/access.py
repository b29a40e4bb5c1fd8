"""Who may use the gateway: every request passes here first, and goes on with its peer in the ASGI scope.

On the Unix socket that is whoever the file's mode lets in. Over TCP a request must be meant for this device
(`hosts.py`), and show a token that has the scope its path needs (`auth.py`). Knows headers and refusals; not
how tokens are kept.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address, ip_network
from typing import Protocol, cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from muleteer.allowance import Allowances
from muleteer.errors import (
    ForbiddenError,
    MisdirectedError,
    MuleteerError,
    TooManyError,
    UnauthorizedError,
    UnknownPathError,
)
from muleteer.gateway import hosts
from muleteer.gateway.auth import needed
from muleteer.gateway.connected import CONNECTION, Connected
from muleteer.gateway.peer import EVERYTHING, KEY, LOCAL, Peer
from muleteer.gateway.peer import Scope as Granted
from muleteer.gateway.replies import STATUS_SENTENCES, error_reply

log = logging.getLogger(__name__)

# Requests of one token, a second and at once: a page that asks for everything, and never a loop gone wild.
REQUESTS, REQUESTS_AT_ONCE = 20.0, 100.0
# Those without a valid token, from one address: a monitor's, a forgotten client's, and every guess.
STRANGERS, STRANGERS_AT_ONCE = 2.0, 40.0
ANSWER_TO_NOBODY = (
    "Show a token: Authorization: Bearer TOKEN; `muleteer pair` on the device begins to make one."
)

TOO_LITTLE = (
    "This needs the scope {needed}, and this token has: {granted}. "
    "`muleteer pair NAME --scope {needed}` on the device begins to make one that has it."
)


class Token(Protocol):
    """What is known of a token."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def scopes(self) -> frozenset[Granted]: ...


class Tokens(Protocol):
    """The part of `store/tokens.py` that is used here."""

    def find(self, secret: str) -> Token | None: ...


class LocalAccess:
    """For the Unix socket."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        connected = _connected(scope)
        host = headers.get("host", "")
        peer = Peer("local", EVERYTHING, "unix", connected.address, LOCAL)
        try:
            if not hosts.is_local(host, self._names):
                raise _misdirected(host)
            _check_origin(headers, host)
        except MuleteerError as error:
            await _refuse(error, scope, receive, send)
            return
        _note(scope, peer)
        scope[KEY] = peer
        await self._app(scope, receive, send)


class NetworkAccess:
    """For TCP. `tokens` are those that were granted, `names` this device's; `is_there` says of a request's
    scope whether anything is at its path."""

    def __init__(
        self, app: ASGIApp, tokens: Tokens, names: frozenset[str], is_there: Callable[[Scope], bool]
    ) -> None:
        self._app, self._tokens, self._names, self._is_there = app, tokens, names, is_there
        self._by_token = Allowances(REQUESTS, REQUESTS_AT_ONCE)
        self._by_address = Allowances(STRANGERS, STRANGERS_AT_ONCE)
        self._connections: dict[str, set[Connected]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connected = _connected(scope)
        try:
            peer = self._peer(scope, Headers(scope=scope), connected)
        except MuleteerError as error:
            await _refuse(error, scope, receive, send)
            return
        _note(scope, peer)
        scope[KEY] = peer
        with self._counted(peer.name, connected):
            await self._app(scope, receive, send)

    def cut(self, name: str, spared: Connected) -> None:
        """End what the token of this name is being answered: it is not valid any more. The connection that
        has asked for that is told so."""
        for connected in self._connections.get(name, set()) - {spared}:
            connected.abort()

    def _peer(self, scope: Scope, headers: Headers, connected: Connected) -> Peer:
        """Raises what the request is refused with."""
        host = headers.get("host", "")
        if not hosts.is_ours(host, connected.local, self._names):
            self._count_stranger(connected)
            raise _misdirected(host)
        _check_origin(headers, host)
        scope_needed = needed(scope["method"], scope["path"])
        if scope_needed == "open":
            self._count_stranger(connected)
            return Peer("", frozenset(), connected.transport, connected.address)
        token = self._token(headers)
        if token is None:
            self._count_stranger(connected)
            raise UnauthorizedError(ANSWER_TO_NOBODY)
        if not self._by_token.take(token.id, time.monotonic()):
            raise TooManyError("This token asks too often; ask more slowly.")
        peer = Peer(token.name, token.scopes, connected.transport, connected.address, token.id)
        if not peer.may(scope_needed):
            if not self._is_there(scope):
                raise UnknownPathError(STATUS_SENTENCES[404])
            granted = ", ".join(sorted(token.scopes)) or "nothing"
            raise ForbiddenError(TOO_LITTLE.format(needed=scope_needed, granted=granted))
        return peer

    def _token(self, headers: Headers) -> Token | None:
        kind, _, secret = headers.get("authorization", "").partition(" ")
        return self._tokens.find(secret.strip()) if kind.lower() == "bearer" else None

    def _count_stranger(self, connected: Connected) -> None:
        if not self._by_address.take(_home_of(connected.address), time.monotonic()):
            raise TooManyError("Too many requests without a valid token; ask more slowly.")

    @contextmanager
    def _counted(self, name: str, connected: Connected) -> Iterator[None]:
        """While this goes on, `cut` reaches the connection."""
        open_now = self._connections.setdefault(name, set())
        open_now.add(connected)
        try:
            yield
        finally:
            open_now.discard(connected)
            if not open_now:
                self._connections.pop(name, None)


def _connected(scope: Scope) -> Connected:
    return cast(Connected, scope["state"][CONNECTION])


def _misdirected(host: str) -> MisdirectedError:
    named = f"{host[:100]!r} is" if host.isprintable() and host else "The Host header has"
    return MisdirectedError(
        f"{named} no name or address of this device; use one that is, or add it to gateway.hosts."
    )


def _check_origin(headers: Headers, host: str) -> None:
    """Raises `ForbiddenError` for a page from elsewhere. Only browsers send the header, and always with what
    a page may not read anyway."""
    if any(not hosts.is_own_page(origin, host) for origin in headers.getlist("origin")):
        raise ForbiddenError("A web page from elsewhere may not use this device.")


def _home_of(address: str) -> str:
    """The address, or for IPv6 the network that one household or one machine is given."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return address if found.version == 4 else str(ip_network((found, 64), strict=False))


def _note(scope: Scope, peer: Peer) -> None:
    """One line for what begins something. The path is one of ours by now, or its sender an administrator."""
    if scope["method"] != "GET":
        log.info("%s %s for %s.", scope["method"], scope["path"], peer.name or "a stranger", extra=_who(peer))


def _who(peer: Peer) -> dict[str, str]:
    return {"peer": peer.address, "transport": peer.transport}


async def _refuse(error: MuleteerError, scope: Scope, receive: Receive, send: Send) -> None:
    reply = error_reply(error, scope["path"])
    if isinstance(error, UnauthorizedError):
        reply.headers["www-authenticate"] = "Bearer"
    await reply(scope, receive, send)
