"""An engine without a model: it chooses the first option, and writes the least that a schema allows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence

from muleteer.engine.protocol import Choice, Conversation, EngineStatus, JsonSchema, Text, Use

SAID = "That is all I have to say."


class BabblingEngine:
    """Everything that the daemon asks of an engine."""

    def __init__(self) -> None:
        self._use = Use(20, 15, 5, 3, 2, 1.0)

    def status(self) -> EngineStatus:
        return EngineStatus("ready", totals=self._use)

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def restart(self) -> None: ...
    async def ready(self, seconds: float) -> None: ...

    async def replaced(self, pid: int | None) -> int:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    def silence(self) -> float:
        return 0.0

    def set_threads(self, number: int) -> None: ...
    def defer(self, reason: str) -> None: ...

    def lane(self, background: bool = False) -> BabblingEngine:
        return self

    async def forget_talks(self) -> bool:
        return True

    async def count(self, prompt: Conversation | str) -> int:
        if isinstance(prompt, str):
            return len(prompt.split())
        return sum(len(message.content.split()) for message in prompt.messages)

    async def warm(self, prompt: Conversation) -> Use:
        return self._use

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        rest = 0.1 / max(1, len(options) - 1)
        return Choice((0.9, *[rest] * (len(options) - 1)), self._use)

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        return Text(json.dumps(least(schema)), "stop", self._use)

    async def write(
        self, prompt: Conversation, *, limit: int, stop: Sequence[str] = (), prompt_limit: int | None = None
    ) -> AsyncGenerator[str | Text, None]:
        yield SAID
        yield Text(SAID, "stop", self._use)


def least(schema: Mapping[str, object]) -> object:
    """A small value of the schema, as far as the tools of these tests have them."""
    for name in ("enum", "anyOf", "oneOf"):
        if isinstance(among := schema.get(name), Sequence):
            return among[0] if name == "enum" else least(among[0])
    if "const" in schema:
        return schema["const"]
    kind, properties = schema.get("type"), schema.get("properties")
    if kind == "object" or isinstance(properties, Mapping):
        required = schema.get("required")
        names = required if isinstance(required, Sequence) else ()
        return {name: least(properties[name]) for name in names} if isinstance(properties, Mapping) else {}
    return {"array": [], "integer": 1, "number": 1, "boolean": True, "null": None}.get(str(kind), "x")
