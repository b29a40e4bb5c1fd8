"""What the harness needs of a model, and nothing about which model it is.

`engine.client.Engine` is the constrained brain (everything decoded under a grammar). Tests use scripted
ones. The harness never learns how a prompt is rendered or cached; it only reads the token counts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from muleteer.engine.protocol import Choice, Conversation, JsonSchema, Text, Use


class Lane(Protocol):
    """What one turn asks of a model, one request after the other. Every method raises `TooLongError` when the
    prompt exceeds `prompt_limit` tokens (before anything is decoded) and `EngineError` when the engine fails;
    cancelling the awaiting task frees the engine."""

    async def count(self, prompt: Conversation | str) -> int:
        """Tokens of a rendered conversation, or of plain text, by the model's own tokenizer."""
        ...

    async def warm(self, prompt: Conversation) -> Use:
        """Decode the constant part of a prompt and keep it, so that the first turn need not."""
        ...

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        """Score each option as the whole reply (followed by the end of the turn)."""
        ...

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        """JSON text valid under `schema`, of at most `limit` tokens."""
        ...

    def write(
        self,
        prompt: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Text, None]:
        """Free text as it is decoded: chunks of `str`, and one `Text` (whole text, counts) at the end."""
        ...


class Brain(Lane, Protocol):
    """A constrained brain. Asked directly, each request is a turn of its own."""

    def lane(self, background: bool = False) -> Lane:
        """A lane for one turn: the turn that began first is served first, and background last."""
        ...
