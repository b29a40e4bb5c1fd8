"""What a caller of the engine holds: calls that become requests, and the requests with their answers.

A `Lane` is the brain of one turn: its requests share the turn's place in the queue. Who serves a request,
and when, is the business of `client.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar, cast

from muleteer.engine import wire
from muleteer.engine.protocol import Choice, Conversation, JsonSchema, Text, Use
from muleteer.engine.queue import Place
from muleteer.errors import MuleteerError

Part = wire.Chunk | wire.Answer
A = TypeVar("A", wire.Counted, wire.Warmed, wire.Chosen, wire.Written, wire.Forgotten)


class Job:
    """One request on its way. `background` and `age` are those of its lane.

    Raises `TooLongError` or `RequestError` for a request that cannot travel.
    """

    def __init__(self, request: wire.Request, background: bool, age: int) -> None:
        self.line = wire.to_engine(request)
        self.id = request.id
        self.place = Place(background, age, request.id)
        self.parts: asyncio.Queue[Part | MuleteerError] = asyncio.Queue()
        self.started = 0.0
        self.cancelled = False
        self.abandoned = False
        self.shares_lane = age != request.id
        self.gives_way = background and isinstance(request, wire.Warm)
        self._answer = wire.ANSWERS[type(request)]
        self._chunks = request.limit + 1 if isinstance(request, wire.Write) else 0
        self._room = wire.MAX_LINE

    def takes(self, part: Part) -> bool:
        """Whether `part` can belong to the answer: its kind, at most one chunk a token and one for what was
        held back, and no more text than the final line can repeat. This bounds `parts`."""
        if not isinstance(part, wire.Chunk):
            return isinstance(part, self._answer)
        self._chunks -= 1
        self._room -= len(part.text)
        return self._chunks >= 0 and self._room >= 0


class Serving(Protocol):
    """The engine as its lanes see it."""

    def lane(self, background: bool = False) -> Lane: ...
    def number(self) -> int: ...
    def serve(self, request: wire.Request, background: bool, age: int) -> AsyncGenerator[Part, None]: ...


class Lane:
    """The calls of one turn: see `harness.brains.Brain`. Without an `age`, each is a turn of its own."""

    def __init__(self, engine: Serving, background: bool = False, age: int | None = None) -> None:
        self._engine = engine
        self._background = background
        self._age = age

    def lane(self, background: bool = False) -> Lane:
        """The brain of another turn, younger than all before it. Background turns wait for direct ones."""
        return self._engine.lane(background)

    async def count(self, prompt: Conversation | str) -> int:
        return (await self._answer(wire.Count(self._engine.number(), prompt), wire.Counted)).result

    async def warm(self, prompt: Conversation) -> Use:
        """Decode the constant part of `prompt` and keep it. In a background lane it gives way to direct
        requests and goes on after them; what is returned then tells of its last part."""
        return (await self._answer(wire.Warm(self._engine.number(), prompt), wire.Warmed)).result

    async def forget_talks(self) -> bool:
        """Drop what people said wherever it is kept decoded; whether no file of it is left."""
        return (await self._answer(wire.Forget(self._engine.number()), wire.Forgotten)).result

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        request = wire.Choose(self._engine.number(), prompt, tuple(options), prompt_limit)
        return (await self._answer(request, wire.Chosen)).result

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        request = wire.Fill(self._engine.number(), prompt, schema, limit, prompt_limit)
        return (await self._answer(request, wire.Written)).result

    async def write(
        self,
        prompt: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Text, None]:
        request = wire.Write(self._engine.number(), prompt, limit, tuple(stop), prompt_limit)
        async with aclosing(self._parts(request)) as parts:
            async for part in parts:
                yield part.text if isinstance(part, wire.Chunk) else cast(wire.Written, part).result

    async def _answer(self, request: wire.Request, kind: type[A]) -> A:
        async with aclosing(self._parts(request)) as parts:
            return cast(A, await anext(parts))

    def _parts(self, request: wire.Request) -> AsyncGenerator[Part, None]:
        return self._engine.serve(request, self._background, self._age or request.id)
