"""A brain that says what the test queued, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass

from muleteer.engine.protocol import Choice, Conversation, JsonSchema, Text, Use
from muleteer.errors import TooLongError


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

DECODED, GENERATED = 4, 3  # tokens of every request; the rest of its prompt is reused


class ScriptedBrain:
    """Counts a word as a token. Each request takes the next line of the script, which must be of its kind; a
    prompt that is too long is refused as by an engine."""

    def __init__(self, *script: Scripted) -> None:
        self.script = deque(script)
        self.asked: list[Conversation] = []
        self.options: list[Sequence[str]] = []
        self.schemas: list[JsonSchema] = []
        self.warmed: list[Conversation] = []
        self.lanes: list[bool] = []
        self.closed = 0
        self.first_look = Choose({})
        self.second: Choose | None = None
        self.looked: list[Conversation] = []

    def lane(self, background: bool = False) -> ScriptedBrain:
        """Itself; whether each lane was one of the background is in `lanes`."""
        self.lanes.append(background)
        return self

    def use(self, prompt: Conversation) -> Use:
        """As an exact engine counts."""
        tokens = self._tokens(prompt)
        return Use(tokens, tokens - DECODED, DECODED, GENERATED, sampled=2, ms=1.0)

    def _tokens(self, prompt: Conversation) -> int:
        tools = json.dumps([tool.parameters for tool in prompt.tools]) if prompt.tools else ""
        return sum(len(message.content.split()) for message in prompt.messages) + len(tools.split())

    def _next(
        self, prompt: Conversation, kind: type[Choose] | type[Fill] | type[Write], prompt_limit: int | None
    ) -> object:
        tokens = self._tokens(prompt)
        if prompt_limit is not None and tokens > prompt_limit:
            raise TooLongError(f"The prompt has {tokens} tokens and may have {prompt_limit}; send less text.")
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
        return self._tokens(prompt)

    async def warm(self, prompt: Conversation) -> Use:
        self.warmed.append(prompt)
        return self.use(prompt)

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        if self._is_second_look(prompt):
            return self._again(prompt, options, prompt_limit)
        self.options.append(options)
        line = self._next(prompt, Choose, prompt_limit)
        assert isinstance(line, Choose)
        self.first_look = line
        return self._choice(line, prompt, options)

    def _is_second_look(self, prompt: Conversation) -> bool:
        """The planner's: what it asked last, with examples before the message."""
        if not self.asked or len(prompt.messages) <= prompt.constant + 1:
            return False
        return self.asked[-1].messages == (*prompt.messages[: prompt.constant], prompt.messages[-1])

    def _again(self, prompt: Conversation, options: Sequence[str], prompt_limit: int | None) -> Choice:
        """A second look sees what the first one saw, unless `second` says otherwise."""
        if prompt_limit is not None and self._tokens(prompt) > prompt_limit:
            raise TooLongError("The second look does not fit.")
        self.looked.append(prompt)
        return self._choice(self.second or self.first_look, prompt, options)

    def _choice(self, line: Choose, prompt: Conversation, options: Sequence[str]) -> Choice:
        return Choice(
            tuple(line.shares.get(option.removeprefix("@"), 0.0) for option in options), self.use(prompt)
        )

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        line = self._next(prompt, Fill, prompt_limit)
        assert isinstance(line, Fill)
        self.schemas.append(schema)
        return Text(
            json.dumps(line.arguments), "length" if line.finish == "length" else "stop", self.use(prompt)
        )

    async def write(
        self,
        prompt: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Text, None]:
        line = self._next(prompt, Write, prompt_limit)
        assert isinstance(line, Write)
        try:
            for chunk in line.chunks:
                yield chunk
            yield Text("".join(line.chunks), "stop", self.use(prompt))
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
