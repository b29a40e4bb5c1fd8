"""What is counted since the start: levels and their tokens, tool calls, requests by path and status.

Counts only. Every label has a small number of values, whatever clients and models make up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from muleteer.gateway import peer
from muleteer.harness.events import LevelUse

MOST_LEVELS = 24  # names; the harness has a dozen, and what it is asked for by name counts as one
OTHER = "other"


@dataclass(slots=True)
class LevelTotals:
    """Of all requests of one level: how many, seconds and tokens."""

    count: int = 0
    seconds: float = 0.0
    reused: int = 0
    decoded: int = 0
    generated: int = 0


class Tally:
    """Of all turns that have ended."""

    def __init__(self) -> None:
        self.levels: dict[str, LevelTotals] = {}
        self.calls: Counter[str] = Counter()
        """Tool calls by their status."""

    def add(self, levels: Iterable[LevelUse], calls: Iterable[str]) -> None:
        """Count a turn: its levels, and its calls by status."""
        for level in levels:
            self._add(level)
        self.calls.update(calls)

    def _add(self, level: LevelUse) -> None:
        name = level.name.partition(":")[0]  # "agent:TOOL"
        if name not in self.levels and len(self.levels) >= MOST_LEVELS:
            name = OTHER
        totals = self.levels.setdefault(name, LevelTotals())
        totals.count += 1
        totals.seconds += level.ms / 1000
        totals.reused += level.reused
        totals.decoded += level.decoded
        totals.generated += level.generated


class Requests:
    """Requests by the beginning of their path, as the routes have it, and by status."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, int]] = Counter()
        self._known: frozenset[str] = frozenset()

    def know(self, routes: Iterable[BaseRoute]) -> None:
        """All else is counted together."""
        self._known = frozenset(_beginning(str(getattr(route, "path", OTHER))) for route in routes)

    def add(self, path: str, status: int) -> None:
        beginning = _beginning(path)
        self.counts[beginning if beginning in self._known else OTHER, status] += 1


def _beginning(path: str) -> str:
    """`/v1/turns/t1/events` as `/v1/turns`."""
    return "/".join(path.split("/", 3)[:3])


class Counted:
    """ASGI middleware: counts the requests, and says to what they start whose they are."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self._app, self._requests = app, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer.current.set(peer.peer_of(scope))

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._requests.add(scope["path"], message["status"])
            await send(message)

        await self._app(scope, receive, counting)
