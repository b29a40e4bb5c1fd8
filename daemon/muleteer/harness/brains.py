"""What the harness needs of a model, and nothing about which model it is.

`engine.client.Engine` is the constrained brain (everything decoded under a grammar). A free brain writes as
it likes and may ask for tools while it does: a server elsewhere, or the engine by `talking.Talking`. Tests
use scripted ones. The harness never learns how a prompt is rendered or cached; it only reads the counts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from muleteer.engine.protocol import Choice, Conversation, JsonSchema, Text, Use
from muleteer.harness.dialects.calls import ToolCall


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


@dataclass(frozen=True, slots=True)
class Said:
    """One whole reply of a free brain. `text` is its prose, which is the streamed pieces joined; `calls` are
    the tools it asked for, in order, of which those with a `fault` must be answered by that fault and not be
    run. `finish` as in `Text`."""

    text: str
    calls: tuple[ToolCall, ...]
    finish: Literal["stop", "length", "repetition"]
    use: Use


class FreeLane(Protocol):
    """What one turn asks of a free brain. Raises as `Lane` does.

    The conversation shows the tools. Earlier calls are `Message("assistant", text, ((name, arguments as JSON
    text), ...))`, followed by one `Message("tool", result)` each, in their order; a server's own ids of calls
    follow from that order. A call with a fault is no part of it: what was `written` is content, and the
    correction a user's message.
    """

    async def count(self, prompt: Conversation | str) -> int:
        """Tokens of a conversation with its tools, or of plain text; an estimate where the tokenizer is
        elsewhere."""
        ...

    def talk(
        self,
        conversation: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Said, None]:
        """The reply: pieces of its prose as they are certain to be prose, and one `Said` at the end. A piece
        never holds any part of a call. At most `limit` tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which brain answers a turn, and why not the one that was wanted. Without a `lane` it is the one at
    home; then `flat` means that it writes freely, and its model has these `marks`. Of a brain elsewhere,
    `flat` means all tools at once, and the rest are its limits in tokens: of a prompt, an output, a turn."""

    name: str
    reason: str = ""
    lane: FreeLane | None = None
    flat: bool = False
    marks: tuple[str, ...] = ()
    prompt: int = 0
    output: int = 0
    turn: int = 0


class Brains(Protocol):
    """The brains that may be asked."""

    def choose(self, wanted: str, private: bool, tools: int, skills: int) -> Chosen:
        """The brain for a turn that wants this one (empty: the usual one) and has so many tools and skills in
        reach; a `private` turn stays at home. Raises `RequestError` for a name that is none."""
        ...
