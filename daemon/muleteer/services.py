"""What the daemon lends to a tool: the services, as protocols, and the values they deal in.

Knows shapes only. Who implements them, and on what, is `household.py`'s business. Every method is a
coroutine, since it runs in the daemon's loop while the tool waits in its own (`lending.py`), and raises
`OSError` when it cannot look or cannot keep.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Note:
    """One remembered note; `when` is timezone-aware, `match` the share of the searched words it holds."""

    text: str
    when: datetime
    match: float = 1.0


class Notebook(Protocol):
    """The user's notes. `add` returns only after the note is on disk. `search` returns best first; an empty
    query returns the newest."""

    async def add(self, text: str) -> Note: ...
    async def search(self, query: str, limit: int = 8) -> list[Note]: ...


class Offline(Protocol):
    """Whether tools may use the network: `reason` says why not, and is empty when they may."""

    async def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Page:
    """The text of what a web address gave. `url` is where it was found in the end, `cut` whether there is
    more than was read."""

    url: str
    title: str
    text: str
    cut: bool = False


class Web(Protocol):
    """The web. `get` raises `ValueError` when the address or what is there can never be read,
    `FileNotFoundError` when the server has no such page, any other `OSError` when it could not look."""

    async def get(self, url: str) -> Page: ...


class Absent:
    """A service that this device does not have: every use of it raises `OSError` with `reason`."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if name.startswith("__"):
            raise AttributeError(name)

        async def use(*_: object, **__: object) -> Any:
            raise OSError(self._reason)

        return use


@dataclass(frozen=True, slots=True)
class Services:
    """What the daemon lends to a tool. What is not set up is there all the same, and says so when used."""

    notebook: Notebook
    offline: Offline = field(default_factory=lambda: Absent("No network is set up"))
    web: Web = field(default_factory=lambda: Absent("The web is not set up."))
