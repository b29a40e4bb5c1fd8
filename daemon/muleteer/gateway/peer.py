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
LOCAL = "local"  # the id on the Unix socket; a token's is hexadecimal


@dataclass(frozen=True, slots=True)
class Peer:
    """`name` is its token's, `local` on the Unix socket, empty for one without a token. `address` is an IP
    address, or the user and process behind the Unix socket. `id` says whose something is: a token's own,
    since its name may be another token's later; empty for one that owns nothing."""

    name: str
    scopes: frozenset[Scope]
    transport: Literal["unix", "tcp", "tls"]
    address: str
    id: str = ""

    def may(self, scope: Scope) -> bool:
        """Whether this scope was granted: each holds those before it in `SCOPES`."""
        return any(each in self.scopes for each in SCOPES[SCOPES.index(scope) :])

    @property
    def keeper(self) -> str:
        """The owner of its sessions, as `session.key_of` takes it: a token has its own; `admin`, and so the
        Unix socket, those of the household."""
        return "" if self.may("admin") else self.id or "nobody"

    def owns(self, owner: str) -> bool:
        """Whether what the peer of this id began is for this one as well; `admin` is for everything."""
        return (bool(self.id) and self.id == owner) or self.may("admin")


NOBODY = Peer("", frozenset(), "tcp", "")

current: ContextVar[Peer] = ContextVar("peer", default=NOBODY)
"""Whose request is being answered; what is started for it, in tasks, knows it."""


def peer_of(scope: MutableMapping[str, Any]) -> Peer:
    """The peer of an ASGI scope; one who may nothing where nobody has asked who it is."""
    found = scope.get(KEY)
    return found if isinstance(found, Peer) else NOBODY
