"""A brain that says what the test queued, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from muleteer.engine.protocol import Choice, Conversation, JsonSchema, Text, Use


@dataclass(frozen=True)
class Choose:
    """Shares by handle (without "@"); the rest get nothing."""

    shares: Mapping[str, float]


@dataclass(frozen=True)
class Fill:
    arguments: Mapping[str, object]
    finish: str = "stop"


@dataclass(frozen=True)
class Write:
    chunks: tuple[str, ...]


Scripted = Choose | Fill | Write | BaseException

USE = Use(prompt=10, reused=6, decoded=4, generated=3, sampled=2, ms=1.0)


class ScriptedBrain:
    """Counts a word as a token. Each request takes the next line of the script, which must be of its kind."""

    def __init__(self, *script: Scripted) -> None:
        self.script = deque(script)
        self.asked: list[Conversation] = []
        self.options: list[Sequence[str]] = []
        self.schemas: list[JsonSchema] = []
        self.warmed: list[Conversation] = []
        self.closed = 0

    def _next(self, prompt: Conversation, kind: type[Choose] | type[Fill] | type[Write]) -> object:
        self.asked.append(prompt)
        assert self.script, f"nothing scripted for {kind.__name__} of {prompt.messages[-1]}"
        line = self.script.popleft()
        if isinstance(line, BaseException):
            raise line
        assert isinstance(line, kind), f"scripted {line}, asked for {kind.__name__}"
        return line

    async def count(self, prompt: Conversation | str) -> int:
        if isinstance(prompt, str):
            return len(prompt.split())
        tool = json.dumps(prompt.tool.parameters) if prompt.tool else ""
        return sum(len(message.content.split()) for message in prompt.messages) + len(tool.split())

    async def warm(self, prompt: Conversation) -> Use:
        self.warmed.append(prompt)
        return USE

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        self.options.append(options)
        line = self._next(prompt, Choose)
        assert isinstance(line, Choose)
        return Choice(tuple(line.shares.get(option.removeprefix("@"), 0.0) for option in options), USE)

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        line = self._next(prompt, Fill)
        assert isinstance(line, Fill)
        self.schemas.append(schema)
        return Text(json.dumps(line.arguments), "length" if line.finish == "length" else "stop", USE)

    async def write(
        self,
        prompt: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncIterator[str | Text]:
        line = self._next(prompt, Write)
        assert isinstance(line, Write)
        try:
            for chunk in line.chunks:
                yield chunk
            yield Text("".join(line.chunks), "stop", USE)
        finally:
            self.closed += 1


class StuckBrain(ScriptedBrain):
    """Never answers a choice; tells when it was asked and when it was let go."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.freed = asyncio.Event(), asyncio.Event()

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.freed.set()
        raise AssertionError("unreachable")
