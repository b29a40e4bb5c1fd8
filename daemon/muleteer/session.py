"""Which conversation the work at hand belongs to: what is started within it, in tasks or in tools, knows it.

Knows a name; not who gave it. It is set where a turn begins, and empty outside of turns.
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar

current: ContextVar[str] = ContextVar("session", default="")


def begin(name: str) -> None:
    """What is done from here on belongs to the session of this name, or to a new one."""
    current.set(name or secrets.token_hex(8))
