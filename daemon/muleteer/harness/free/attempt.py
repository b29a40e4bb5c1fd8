"""One plan, or one flat loop, carried out by a brain that writes freely; the answer is made as for any plan.

Knows which levels take the place of those that decode under a grammar.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import cast

from muleteer.engine.protocol import Conversation, Message, Text
from muleteer.errors import TooLongError
from muleteer.harness.arrangement import Arrangement
from muleteer.harness.attempt import Attempt
from muleteer.harness.brains import FreeLane, Lane, Said
from muleteer.harness.confirmation import Pause
from muleteer.harness.dispatcher import Dispatcher, Gate
from muleteer.harness.flat import Flat
from muleteer.harness.free import follower
from muleteer.harness.free.listening import Listener
from muleteer.harness.free.speech import Speech
from muleteer.harness.free.tool_agent import FreeToolAgent
from muleteer.harness.record import Record
from muleteer.harness.signals import BudgetExceeded, ConfirmSignal, ToolLoopHalt
from muleteer.skills import Skill
from muleteer.toolbox import Tool

log = logging.getLogger(__name__)

FLAT = "flat"
"""How a plan without steps and without L2 is carried out, in a `Pause`."""


class Writing:
    """As much of a `Lane` as an answer needs, over a free lane."""

    def __init__(self, lane: FreeLane) -> None:
        self._lane = lane

    async def count(self, prompt: Conversation | str) -> int:
        return await self._lane.count(prompt)

    async def write(
        self,
        prompt: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Text, None]:
        talk = self._lane.talk(prompt, limit=limit, stop=stop, prompt_limit=prompt_limit)
        async with aclosing(talk) as pieces:
            async for piece in pieces:
                yield Text(piece.text, piece.finish, piece.use) if isinstance(piece, Said) else piece


class FreeAttempt(Attempt):
    """`Attempt` with free levels: L2 and L3 are replaced, so nothing is ever chosen or filled."""

    def __init__(self, arranged: Arrangement, listener: Listener, record: Record, gate: Gate) -> None:
        super().__init__(arranged, cast("Lane", Writing(listener.lane)), record, gate)
        self._agent = FreeToolAgent(listener, arranged.budgets)
        self._free = follower.FreeFollower(listener, arranged.budgets)
        self._flat = Flat(listener, record.ledger, arranged.budgets)

    async def flat(
        self, tools: Sequence[Tool], message: str, history: Sequence[Message], speech: Speech
    ) -> None:
        """All tools at once, and no plan; says what came of it. `speech` says what is a reply."""
        record = self._record
        dispatcher = self._dispatcher(tools, (), message)
        record.bridge = dispatcher.bridge
        prose = ""
        try:
            prose = await self._flat.follow(dispatcher, tools, message, history, speech)
        except ConfirmSignal as signal:
            signal.pause = Pause(dispatcher, FLAT, heard=signal.heard)
            raise
        except ToolLoopHalt as stop:
            log.info("tool loop halted: %s", stop, extra={"turn": record.id})
        except (TooLongError, BudgetExceeded) as stop:
            if not record.bridge.results:
                raise
            log.warning("a loop ended early: %s", stop, extra={"turn": record.id})
        finally:
            record.dropped = max(record.dropped, self._flat.dropped)
        if prose and not record.bridge.results:
            if not speech.begun:
                speech.feed(prose)
            speech.finish()
        else:
            await self._answer(message, prose)

    async def _follow(
        self, skills: Sequence[Skill], tools: Sequence[Tool], dispatcher: Dispatcher, message: str
    ) -> str:
        text = "\n\n".join(skill.steps for skill in skills)
        opening = follower.opening(tools, text, message, self._record.plan.rationale)
        return await self._free.follow(dispatcher, tools, opening)

    async def _followed_on(self, pause: Pause, dispatcher: Dispatcher, control: str) -> str:
        if pause.heard is None:
            return ""
        loop = self._flat if pause.run == FLAT else self._free
        return await loop.go_on(dispatcher, pause.heard, control)
