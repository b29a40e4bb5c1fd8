"""The engine as a free brain: it writes text, and what it asks for is read out of that text.

Knows dialects; not what becomes of a call.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from muleteer.engine.protocol import Conversation, Text
from muleteer.harness.brains import Lane, Said
from muleteer.harness.dialects import Reader


class Talking:
    """A `FreeLane` over a lane of the engine, whose model has these `marks` (`Properties.call_marks`)."""

    def __init__(self, lane: Lane, marks: Sequence[str]) -> None:
        self._lane, self._marks = lane, marks

    async def count(self, prompt: Conversation | str) -> int:
        return await self._lane.count(prompt)

    async def talk(
        self,
        conversation: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Said, None]:
        reader = Reader(conversation.tools, self._marks) if conversation.tools else None
        told = ""
        pieces = self._lane.write(conversation, limit=limit, stop=stop, prompt_limit=prompt_limit)
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Text):
                    rest, calls = reader.finish(piece.finish != "stop") if reader else ("", ())
                    if rest:
                        yield rest
                    yield Said(told + rest, calls, piece.finish, piece.use)
                elif shown := reader.feed(piece) if reader else piece:
                    told += shown
                    yield shown
