"""A free brain that says what the test queued, and remembers what it was asked."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from muleteer.engine.protocol import Conversation, Use
from muleteer.errors import TooLongError
from muleteer.harness.brains import Said
from muleteer.harness.dialects.calls import ToolCall
from muleteer.harness.dialects.reader import Reader


@dataclass(frozen=True)
class Say:
    """One reply: text (which may hold calls in a dialect), and calls as data."""

    text: str = ""
    calls: tuple[tuple[str, object], ...] = ()


def plan(text: str) -> Say:
    return Say(calls=(("plan", {"text": text}),))


def ask(tool: str, instruction: str = "do it") -> Say:
    return Say(calls=(("call_tool", {"tool": tool, "instruction": instruction}),))


def call(tool: str, **arguments: object) -> Say:
    return Say(calls=((tool, arguments),))


Line = Say | str | BaseException


class FreeBrain:
    """Counts a word as a token; text comes word by word."""

    def __init__(self, *script: Line) -> None:
        self.script: deque[Line] = deque(script)
        self.asked: list[Conversation] = []
        self.closed = 0

    def enqueue(self, lines: Sequence[Line]) -> None:
        self.script.extend(lines)

    async def count(self, prompt: Conversation | str) -> int:
        if isinstance(prompt, str):
            return len(prompt.split())
        return sum(len(message.content.split()) for message in prompt.messages)

    async def talk(
        self,
        conversation: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Said, None]:
        tokens = await self.count(conversation)
        if prompt_limit is not None and tokens > prompt_limit:
            raise TooLongError(f"The prompt has {tokens} tokens and may have {prompt_limit}; send less text.")
        self.asked.append(conversation)
        assert self.script, f"nothing scripted for {conversation.messages[-1]}"
        line = self.script.popleft()
        if isinstance(line, BaseException):
            raise line
        line = Say(line) if isinstance(line, str) else line
        reader, prose = Reader(conversation.tools), ""
        try:
            for word in line.text.splitlines(keepends=True) or [""]:
                for piece in word.split(" "):
                    if shown := reader.feed(piece + " "):
                        prose += shown
                        yield shown
            rest, told = reader.finish()
            prose += rest
            if rest:
                yield rest
            made = tuple(_made(*each) for each in line.calls)
            yield Said(prose.strip(), made or told, "stop", Use(tokens, 0, tokens, 3, 3, 1.0))
        finally:
            self.closed += 1


def _made(name: str, given: object) -> ToolCall:
    if isinstance(given, dict):
        return ToolCall(name, given, written=json.dumps(given))
    return ToolCall(name, None, "its arguments cannot be read", str(given))
