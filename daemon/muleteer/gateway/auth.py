"""Which scope each path needs, in one table. Who adds a path adds its line; without one it needs `admin`.

`chat` is talking: turns in every protocol, and what a client shows around them. `tools` is using tools by
hand and reading what is remembered, and holds `chat`, since who uses tools must see them. `admin` is
everything else, and holds the other two.
Knows paths and methods; not tokens, nor what the paths do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from muleteer.gateway.peer import Scope

Needed = Scope | Literal["open"]  # open: no token is asked for

# A path is matched segment by segment: {} is any one segment, a final * is all that is there or below.
TABLE: dict[str, dict[Needed, str]] = {
    "/": {"open": "GET"},  # the page, which says nothing of this device
    "/healthz": {"open": "GET"},
    "/openapi.json": {"chat": "GET"},
    "/metrics": {"chat": "GET"},
    "/v1/pair": {"open": "POST"},
    "/v1/pair/exchange": {"open": "POST"},
    "/v1/turns/*": {"chat": "GET POST DELETE"},
    "/v1/plan": {"chat": "POST"},
    "/v1/warm": {"chat": "POST"},
    "/v1/names": {"chat": "GET"},
    "/v1/chat/completions": {"chat": "POST"},
    "/v1/embeddings": {"chat": "POST"},
    "/v1/models/*": {"chat": "GET"},
    "/v1/status": {"chat": "GET"},
    "/v1/skills": {"chat": "GET"},
    "/v1/tools": {"chat": "GET"},
    "/v1/seat": {"chat": "GET"},
    "/v1/seat/members": {"chat": "GET"},
    "/v1/devices": {"chat": "GET"},
    "/v1/offline": {"chat": "GET"},
    # Whoever began a session may go on with it, and so may know what was said in it.
    "/v1/sessions/{}": {"chat": "GET"},
    "/v1/sessions": {"tools": "GET"},
    "/v1/tools/{}/call": {"tools": "POST"},
    "/v1/memory": {"tools": "GET"},
    "/v1/memory/search": {"tools": "GET"},
    "/v1/memory/notes": {"tools": "GET POST"},
    "/v1/events": {"tools": "GET"},
    "/v1/inbox": {"tools": "GET"},
    "/v1/inbox/read": {"tools": "POST"},  # who has read it
    "/v1/timers": {"tools": "GET"},
    "/v1/timers/silence": {"tools": "POST"},
    "/api/*": {"chat": "GET POST DELETE"},
    "/mcp": {"chat": "GET POST DELETE"},  # what a peer may call there, it looks up itself
}


def needed(method: str, path: str) -> Needed:
    """What a request needs. The line that says most about its path counts."""
    method = "GET" if method == "HEAD" else method
    lines = [line for line in TABLE if _matches(line, path)]
    if not lines:
        return "admin"
    return next((scope for scope, methods in _granted(lines) if method in methods), "admin")


def _granted(lines: list[str]) -> Iterator[tuple[Needed, list[str]]]:
    closest = max(lines, key=_closeness)
    return ((scope, methods.split()) for scope, methods in TABLE[closest].items())


def _closeness(line: str) -> tuple[int, int]:
    """Longer lines say more; of equal ones, that with fewer blanks."""
    parts = line.split("/")
    return len(parts) - (parts[-1] == "*"), -parts.count("{}")


def _matches(line: str, path: str) -> bool:
    parts, given = line.split("/"), path.split("/")
    if parts[-1] == "*":
        parts.pop()
        given = given[: len(parts)]
    return len(parts) == len(given) and all(
        part in ("{}", each) for part, each in zip(parts, given, strict=True)
    )
