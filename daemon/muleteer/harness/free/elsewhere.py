"""A turn on a brain elsewhere, which may fail: then the brain at home answers, unless something was done.

Knows what may leave the device and what must not happen twice. Does not know servers.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from muleteer.engine.protocol import Message
from muleteer.errors import BrainError, TooLongError
from muleteer.harness import answer
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.brains import Chosen
from muleteer.harness.confirmation import Pending
from muleteer.harness.dispatcher import Gate
from muleteer.harness.free.turn import FreeTurn
from muleteer.harness.record import Record
from muleteer.harness.signals import Plan
from muleteer.privacy import leaving

log = logging.getLogger(__name__)

HOME = "local"


class Elsewhere:
    """One turn. `route` is the plan that the brain at home would make of a message."""

    def __init__(
        self,
        arranged: Arrangement,
        record: Record,
        gate: Gate,
        chosen: Chosen,
        route: Callable[[str], Awaitable[Plan]],
    ) -> None:
        assert chosen.lane is not None, "it is elsewhere"  # noqa: S101  # for the type checker
        self._arranged, self._record, self._chosen, self._route = arranged, record, chosen, route
        self._private = arranged.catalogue.private
        budgets = arranged.budgets.model_copy(
            update=dict.fromkeys(("planner_prompt", "follower_prompt", "agent_prompt"), chosen.prompt)
            | dict.fromkeys(("flat_prompt", "answer_prompt"), chosen.prompt)
            | dict.fromkeys(("follower_output", "agent_output", "answer_output"), chosen.output)
            | {"turn": chosen.turn}
        )
        self._turn = FreeTurn(arranged, chosen.lane, record, gate, budgets, self._private)
        self._budgets = budgets

    async def go_on(self, pending: Pending, yes: bool) -> None:
        """What the brain elsewhere had planned, after the answer to a question."""
        record = self._record
        record.answers(self._chosen.name, self._chosen.reason)
        record.ledger.begin(self._budgets.turn, self._budgets.answer_output)
        shown = leaving.set(True)
        try:
            await self._turn.attempt.go_on(pending, yes)
        finally:
            leaving.reset(shown)

    async def answered(self, message: str, history: Sequence[Message]) -> bool:
        """Whether it answered; false where the brain at home must. What must not leave the device is found
        out at home, before anything is sent. Raises `BrainError` when it broke off while it spoke."""
        record = self._record
        if self._private and self._private & set((await self._route(message)).handles):
            record.answers(HOME, "a private skill may be what the message wants")
            return False
        record.answers(self._chosen.name, self._chosen.reason)
        record.ledger.begin(self._budgets.turn, self._budgets.answer_output)
        shown = leaving.set(True)
        try:
            if not (self._chosen.flat and await self._turn.flat(message, history)):
                await self._turn.planned(message, history)
        except (BrainError, TooLongError) as error:
            return self._failed(error)
        finally:
            leaving.reset(shown)
        return True

    def _failed(self, error: BrainError | TooLongError) -> bool:
        """What was said cannot be taken back, and what was done is not done again: then what was found is the
        answer."""
        record, tools = self._record, self._arranged.catalogue.toolbox.tools
        results = record.bridge.results
        log.warning("The brain %s failed: %s", self._chosen.name, error, extra={"turn": record.id})
        if record.said and not results:
            raise error
        done = [call for call in record.calls if call.tool not in tools or tools[call.tool].effect != "read"]
        record.answers(HOME, str(error))
        if done or record.said:
            found = answer.listed(results)
            record.say(f"\n{found}" if record.said else found or record.words.floor)
            return True
        record.calls.clear()
        record.plan = Plan((), 0.0)
        record.ledger.begin(self._arranged.budgets.turn, self._arranged.budgets.answer_output)
        return False
