"""One reply of a free brain, paid for from the turn's ledger.

Knows budgets; not what is asked or what a reply means.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from muleteer.engine.protocol import Conversation, Message
from muleteer.harness.brains import FreeLane, Said
from muleteer.harness.dialects.calls import ToolCall
from muleteer.harness.ledger import Ledger
from muleteer.toolbox import Tool


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply whose calls were being made: the prompt it answered, what the first of its calls gave, and the
    tools in reach."""

    prompt: Conversation
    said: Said
    results: tuple[str, ...]
    tools: tuple[Tool, ...]


class Listener:
    """Every request of one turn to a free brain."""

    def __init__(self, lane: FreeLane, ledger: Ledger) -> None:
        self.lane, self._ledger = lane, ledger

    def note(self) -> str:
        """What a loop's model is told when it must come to an end."""
        return self._ledger.note()

    async def hear(
        self,
        level: str,
        prompt: Conversation,
        limit: int,
        prose: Callable[[str], None] = lambda piece: None,
    ) -> Said:
        """The whole reply, of at most `limit` tokens; `prose` gets its text piece by piece. Raises as
        `FreeLane.talk`, and `BudgetExceeded` before anything is asked."""
        said: Said | None = None
        async with aclosing(self.lane.talk(prompt, limit=self._ledger.allow(limit))) as talk:
            async for piece in talk:
                if isinstance(piece, Said):
                    said = piece
                    self._ledger.book(level, said.use)
                else:
                    prose(piece)
        assert said is not None, "a talk ends with what was said"  # noqa: S101  # the protocol's promise
        return said


def correction(what: str) -> str:
    """A corrective text: tagged, so that whatever repeats it to the user is scrubbed."""
    return f"<correction>{what}</correction>"


def corrected(prompt: Conversation, said: Said, what: str) -> Conversation:
    """The conversation with a reply that will not do, and why. Calls go in as text: none of them was run."""
    wrong = said.text.strip() or " ".join(_written(call) for call in said.calls) or "(nothing)"
    messages = (*prompt.messages, Message("assistant", wrong), Message("user", correction(what)))
    return Conversation(messages, prompt.tools, prompt.constant)


def _written(call: ToolCall) -> str:
    return call.written or f"{call.name}({call.arguments})"
