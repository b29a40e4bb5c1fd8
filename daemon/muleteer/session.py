"""Which conversation the work at hand belongs to, and who asked for it: what is started within it, in tasks
or in tools, knows it; and what of an earlier turn is told to the model again.

Knows a name and an id; not what they stand for. Each is set where a turn begins, and empty outside of turns.
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar

current: ContextVar[str] = ContextVar("session", default="")
asker: ContextVar[str] = ContextVar("asker", default="")
"""Who has begun the turn, by an id; empty where that is nobody who can be told from others."""

# What a tool returned is true once and for one question; in the history the model would say it again.
LOOKED_UP = "(I looked that up with a tool.)"


def begin(name: str, owner: str = "") -> None:
    """What is done from here on belongs to the owner's session of this name, or to a new one."""
    current.set(key_of(name or secrets.token_hex(8), owner))


def key_of(name: str, owner: str) -> str:
    """What a session is kept under: two owners mean different ones by one name. The household's, whose owner
    is empty, are kept under their names."""
    return f"{owner}:{name}" if owner and name else name


def name_of(key: str, owner: str) -> str:
    """What its owner calls the session; the key itself for anybody else's."""
    return key.removeprefix(f"{owner}:") if owner else key


def told_again(answer: str, looked_up: bool) -> str:
    """What the model is told in later turns that it answered."""
    return LOOKED_UP if looked_up else answer
