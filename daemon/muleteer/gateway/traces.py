"""What the last turns did, step by step: plan, levels, calls, outcome, with their times and tokens.

Knows the harness's events, and keeps nothing of what was said: no message, answer, argument or result.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from muleteer.errors import UnknownTurnError
from muleteer.gateway import replies
from muleteer.harness.events import (
    CallFinished,
    CallStarted,
    Confirm,
    Event,
    LevelFinished,
    Outcome,
    Planned,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)

MOST_TURNS = 100  # kept; a day of a household
MOST_STEPS = 200  # of one turn; its budgets allow fewer


@dataclass(slots=True)
class Trace:
    """One turn. `skill` is that of a background turn; each step has its `at` in milliseconds since the
    beginning."""

    turn: str
    skill: str
    began: datetime
    start: float
    steps: list[dict[str, object]] = field(default_factory=list)
    outcome: str = "running"
    ms: float = 0.0

    def add(self, event: Event) -> None:
        if isinstance(event, Outcome):
            self.outcome, self.ms = _outcome(event), round((time.monotonic() - self.start) * 1000, 1)
        elif (step := _step(event)) and len(self.steps) < MOST_STEPS:
            self.steps.append({"at": round((time.monotonic() - self.start) * 1000, 1), **step})

    def as_dict(self) -> dict[str, object]:
        return {
            "turn": self.turn,
            "skill": self.skill,
            "began": self.began.isoformat(timespec="seconds"),
            "outcome": self.outcome,
            "ms": self.ms,
            "steps": self.steps,
        }


class Traces:
    """The last `MOST_TURNS` turns."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Trace] = OrderedDict()

    async def watched(self, events: AsyncGenerator[Event, None], skill: str) -> AsyncGenerator[Event, None]:
        """The same events, each noted as it goes by."""
        trace: Trace | None = None
        async with aclosing(events):
            try:
                async for event in events:
                    if isinstance(event, TurnStarted):
                        trace = self._begin(event.turn, skill)
                    elif trace:
                        trace.add(event)
                    yield event
            finally:
                if trace and trace.outcome == "running":
                    trace.outcome = "cancelled"

    def get(self, turn: str) -> Trace:
        """By its id, or a beginning that only one has; the newest for no id. Raises `UnknownTurnError`."""
        found = [each for id, each in reversed(self._kept.items()) if id.startswith(turn)]
        if not self._kept:
            raise UnknownTurnError('No turn has run since the daemon started; `muleteer ask "..."` runs one.')
        if not found or (turn and len(found) > 1):
            many = "Several turns begin" if found else "None of the last turns begins"
            raise UnknownTurnError(f"{many} with {turn[:20]!r}; GET /v1/traces lists them.")
        return found[0]

    def steps(self, turn: str) -> list[dict[str, object]]:
        """Those of one turn, by its whole id; none where it is not kept."""
        return list(kept.steps) if (kept := self._kept.get(turn)) else []

    def routes(self) -> list[BaseRoute]:
        """Where they are read."""

        async def listed(request: Request) -> Response:
            brief = [each.as_dict() | {"steps": len(each.steps)} for each in reversed(self._kept.values())]
            return replies.Json({"traces": brief})

        async def one(request: Request) -> Response:
            return replies.Json(self.get(request.path_params["turn"]).as_dict())

        async def newest(request: Request) -> Response:
            return replies.Json(self.get("").as_dict())

        return [
            Route("/v1/traces", listed),
            Route("/v1/traces/newest", newest),
            Route("/v1/traces/{turn}", one),
        ]

    def _begin(self, turn: str, skill: str) -> Trace:
        trace = self._kept.get(turn)
        if trace is None:  # a turn goes on under its name after a question
            self._kept[turn] = trace = Trace(turn, skill, datetime.now(UTC), time.monotonic())
        trace.outcome = "running"
        self._kept.move_to_end(turn)
        while len(self._kept) > MOST_TURNS:
            self._kept.popitem(last=False)
        return trace


def told(turn: str, outcome: Outcome | None) -> Mapping[str, object]:
    """The fields of the log record of a turn's end."""
    if outcome is None:
        return {"turn": turn}
    tokens = sum(level.decoded + level.generated for level in outcome.levels)
    return {"turn": turn, "tokens": tokens, "levels": len(outcome.levels)}


def _step(event: Event) -> dict[str, object]:
    if isinstance(event, Planned):
        return {
            "step": "plan",
            "handles": list(event.handles),
            "confidence": event.confidence,
            "attempt": event.attempt,
        }
    if isinstance(event, LevelFinished):
        return {"step": "level", **asdict(event.level)}
    if isinstance(event, CallStarted):
        return {"step": "call", "tool": event.tool}
    if isinstance(event, CallFinished):
        return {"step": "result", "tool": event.tool, "status": event.status, "ms": round(event.ms, 1)}
    return {}


def _outcome(outcome: Outcome) -> str:
    if isinstance(outcome, TurnFailed):
        return f"failed ({outcome.code})"
    return {TurnFinished: "finished", Confirm: "asked"}[type(outcome)]
