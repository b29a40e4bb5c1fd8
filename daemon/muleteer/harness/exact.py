"""The exact ledger: the tokens that a turn sends are those that were decoded or reused, request by request.

A lane like any other, through which every request of a turn passes. Knows counts; not what a prompt means.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from muleteer.engine.protocol import Choice, Conversation, JsonSchema, Text, Use
from muleteer.harness.brains import Lane

log = logging.getLogger(__name__)

MISMATCH = "The ledger is wrong"


@dataclass
class Audit:
    """How many requests were checked, and how many of them did not add up."""

    requests: int = 0
    mismatches: int = 0


class ExactLane:
    """Counts each prompt before it is asked; a request that used another number of prompt tokens was cut or
    counted wrongly, which is logged as an error."""

    def __init__(self, lane: Lane, turn: str, audit: Audit) -> None:
        self._lane, self._turn, self._audit = lane, turn, audit

    async def count(self, prompt: Conversation | str) -> int:
        return await self._lane.count(prompt)

    async def warm(self, prompt: Conversation) -> Use:
        return await self._lane.warm(prompt)

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        sent = await self._lane.count(prompt)
        choice = await self._lane.choose(prompt, options, prompt_limit=prompt_limit)
        await self._check(prompt, sent, choice.use)
        return choice

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        sent = await self._lane.count(prompt)
        text = await self._lane.fill(prompt, schema, limit=limit, prompt_limit=prompt_limit)
        if text.use.prompt:  # none where the schema alone says what the text must be
            await self._check(prompt, sent, text.use)
        return text

    async def write(
        self,
        prompt: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Text, None]:
        sent = await self._lane.count(prompt)
        pieces = self._lane.write(prompt, limit=limit, stop=stop, prompt_limit=prompt_limit)
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Text):
                    await self._check(prompt, sent, piece.use)
                yield piece

    async def _check(self, prompt: Conversation, sent: int, use: Use) -> None:
        """Counted once more before it is called wrong: the engine keeps the tokens of texts it wrote, and may
        have learnt other ones for a text of this prompt meanwhile."""
        self._audit.requests += 1
        if use.prompt != sent and use.prompt != await self._lane.count(prompt):
            self._audit.mismatches += 1
            log.error(
                "%s: a prompt of %d tokens was sent, %d were decoded and %d reused.",
                MISMATCH,
                sent,
                use.decoded,
                use.reused,
                extra={"turn": self._turn},
            )
