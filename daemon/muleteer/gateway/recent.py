"""The turns that can still be looked at, followed and stopped: those that run, and the last that have ended.

Knows who may see which turn. Keeps what was said in memory alone, bounded in number and age.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Literal, get_args

from muleteer.errors import CancelledByClientError, UnknownTurnError
from muleteer.gateway.peer import Peer
from muleteer.gateway.running import Turn
from muleteer.gateway.traces import Traces
from muleteer.harness.events import Confirm, Outcome, TurnFailed, TurnFinished
from muleteer.session import name_of

MOST_ENDED = 64  # turns; with messages of 64 KiB, the longest, 4 MiB
ENDED_SECONDS = 3600.0  # long enough to come back to an answer; what was said is not kept here for the day

Kind = Literal["finished", "asked", "refused", "failed", "cancelled"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def kind_of(outcome: Outcome) -> Kind:
    """How a turn ended, in a word."""
    match outcome:
        case TurnFinished():
            return "finished"
        case Confirm():
            return "asked"
        case TurnFailed(code=CancelledByClientError.code):
            return "cancelled"
        case TurnFailed(status=status):
            return "refused" if 400 <= status < 500 else "failed"


class Recent:
    """Turns by id; `now` tells seconds. A turn that goes on after its question takes the place of the one
    that asked. A peer sees its own; the Unix socket and `admin` see all, and those of the background."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.traces, self._now = Traces(), now
        self._kept: OrderedDict[str, tuple[float, Turn]] = OrderedDict()  # by when they began

    def add(self, turn: Turn) -> None:
        """From here on it can be found."""
        self._drop()
        self._kept.pop(turn.id, None)
        self._kept[turn.id] = (self._now(), turn)

    def get(self, id: str, peer: Peer) -> Turn:
        """Raises `UnknownTurnError`, also for one that this peer may not see."""
        self._drop()
        found = self._kept.get(id)
        if found is None or not peer.owns(found[1].owner.id):
            raise UnknownTurnError(
                f"There is no turn {id[:40]!r} of yours: only the last {MOST_ENDED} are kept, for"
                f" {ENDED_SECONDS / 3600:g} h. GET /v1/turns lists them."
            )
        return found[1]

    def listed(self, peer: Peer) -> list[dict[str, object]]:
        """The newest first, without what was said."""
        self._drop()
        return [_brief(turn, peer) for _, turn in reversed(self._kept.values()) if peer.owns(turn.owner.id)]

    def shown(self, turn: Turn, peer: Peer) -> dict[str, object]:
        """Everything about it, as far as it has come, for this peer."""
        outcome = turn.outcome
        return _brief(turn, peer) | {
            "message": turn.message,
            "text": turn.text,
            "steps": self.traces.steps(turn.id),
            "outcome": {"event": outcome.name, **outcome.as_dict()} if outcome else None,
        }

    def forget(self) -> None:
        """Drop what was said in turns that have ended: somebody wants something forgotten, which may be in
        any of them."""
        for id in [id for id, (_, turn) in self._kept.items() if turn.outcome]:
            del self._kept[id]

    def _drop(self) -> None:
        """What is too old, or too much."""
        for id in list(self._doomed()):
            del self._kept[id]

    def _doomed(self) -> Iterator[str]:
        ended = [(began, id) for id, (began, turn) in self._kept.items() if turn.outcome]
        oldest = self._now() - ENDED_SECONDS
        for number, (began, id) in enumerate(reversed(ended)):
            if number >= MOST_ENDED or began < oldest:
                yield id


def _brief(turn: Turn, peer: Peer) -> dict[str, object]:
    state = kind_of(turn.outcome) if turn.outcome else "running"
    return {
        "turn": turn.id,
        "state": state,
        "skill": turn.skill,
        "session": name_of(turn.session, peer.keeper),
        "began": turn.began.isoformat(timespec="seconds"),
        "ms": turn.ms,
    }
