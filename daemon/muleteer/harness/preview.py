"""What the planner would do with a message, and why; nothing is run.

Asks the model as a turn does, in a lane of its own. Knows the way that a plan would be carried out; carries
none out.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from muleteer.errors import RequestError, TooLongError
from muleteer.harness import steps
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.events import LevelUse
from muleteer.harness.language import language
from muleteer.harness.ledger import Ledger
from muleteer.harness.partwise import Cutter
from muleteer.harness.planner import REPLY, Weighed
from muleteer.harness.signals import Plan, PlanSignal


@dataclass(frozen=True, slots=True)
class Candidate:
    """What speaks for one handle. `share` is what decides; `again` is None without a second look, `place` the
    one on the shortlist (1 is the best), 0 for none."""

    handle: str
    share: float
    model: float
    likeness: float
    again: float | None
    place: int
    beside: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One request of a message that is several, and what would be chosen for it alone."""

    said: str
    handles: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Preview:
    """`parts` are those of a message that would be cut, each carried out by itself; the rest is of the whole
    message. `handles` are what would be chosen, none for a reply, `toolset` the tools they lead to. `way`:
    reply, tool (one, called at once), steps (a skill's, by code) or follower."""

    message: str
    handles: tuple[str, ...]
    confidence: float
    way: str
    toolset: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    ruled_out: dict[str, str]
    levels: tuple[LevelUse, ...]
    shown: int
    exchanges: int
    menu_tokens: int
    parts: tuple[Part, ...] = ()


async def preview(arranged: Arrangement, message: str) -> Preview:
    """Raises `RequestError` for no message, `TooLongError` and `EngineError` as a turn does."""
    if not message.strip():
        raise RequestError("The message is empty; say what the planner shall look at.")
    lane, budgets = arranged.brain.lane(), arranged.budgets
    if (tokens := await lane.count(message)) > budgets.message:
        raise TooLongError(f"The message has {tokens} tokens, but only {budgets.message} fit; shorten it.")
    planner, catalogue = arranged.planner, arranged.catalogue
    ledger = Ledger(budgets.turn, lambda event: None)
    await asyncio.to_thread(planner.learn)
    shortlist = arranged.shortlist.pick(message)
    speaks = await arranged.evidence.handles(message, catalogue)
    weighed = await planner.weigh(lane, ledger, message, (), shortlist, speaks)

    async def planned(said: str) -> Plan:
        among, speaks = arranged.shortlist.pick(said), await arranged.evidence.handles(said, catalogue)
        try:
            return Plan((), await planner.plan(lane, ledger, said, (), among, speaks))
        except PlanSignal as signal:
            return signal.plan

    parts = await Cutter(catalogue, planned).cut(message, language(message))
    handles = weighed.plan.handles if weighed.plan else ()
    tools = catalogue.expand(handles)
    skills = [skill for handle in handles if (skill := catalogue.skill(handle))]
    way = "tool" if len(tools) == 1 else "steps" if steps.how(handles, skills, tools) else "follower"
    return Preview(
        message,
        handles,
        round(weighed.plan.confidence if weighed.plan else weighed.shares[REPLY], 4),
        way if handles else REPLY,
        tuple(tool.name for tool in tools),
        _candidates(weighed, {handle: place for place, handle in enumerate(shortlist, 1)}),
        weighed.ruled_out,
        tuple(ledger.levels),
        len(planner.fit.shown),
        planner.fit.exchanges,
        planner.fit.tokens,
        tuple(Part(said, plan.handles, round(plan.confidence, 4)) for said, plan in parts),
    )


def _candidates(weighed: Weighed, places: dict[str, int]) -> tuple[Candidate, ...]:
    """The likeliest first."""
    return tuple(
        Candidate(
            handle,
            round(share, 4),
            round(weighed.model.get(handle, 0.0), 4),
            round(weighed.likeness.get(handle, 0.0), 3),
            round(weighed.again.get(handle, 0.0), 4) if weighed.again else None,
            places.get(handle, 0),
            handle in weighed.beside,
        )
        for handle, share in sorted(weighed.shares.items(), key=lambda each: -each[1])
    )
