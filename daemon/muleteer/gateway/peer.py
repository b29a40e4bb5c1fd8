"""Who is at the other end of a request. Knows what is known of them, not how that came (`access.py`)."""

from __future__ import annotations

from collections.abc import MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

Scope = Literal["chat", "tools", "admin"]
SCOPES: tuple[Scope, ...] = ("chat", "tools", "admin")
EVERYTHING: frozenset[Scope] = frozenset(SCOPES)

KEY = "muleteer.peer"  # in the ASGI scope


@dataclass(frozen=True, slots=True)
class Peer:
    """`name` is its token's, `local` on the Unix socket, empty for one without a token. `address` is an IP
    address, or the user and process behind the Unix socket."""

    name: str
    scopes: frozenset[Scope]
    transport: Literal["unix", "tcp", "tls"]
    address: str

    def may(self, scope: Scope) -> bool:
        """Whether this scope was granted; `admin` holds the others."""
        return scope in self.scopes or "admin" in self.scopes


NOBODY = Peer("", frozenset(), "tcp", "")

current: ContextVar[Peer] = ContextVar("peer", default=NOBODY)
"""Whose request is being answered; what is started for it, in tasks, knows it."""


def peer_of(scope: MutableMapping[str, Any]) -> Peer:
    """The peer of an ASGI scope; one who may nothing where nobody has asked who it is."""
    found = scope.get(KEY)
    return found if isinstance(found, Peer) else NOBODY
