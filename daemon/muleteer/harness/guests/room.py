"""What of a guest's conversation fits into a prompt: the oldest whole messages go, and it is said.

Knows token counts. Instructions of a guest that are too long are cut with a mark; a message that is too long
is refused with both counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from muleteer.engine.protocol import Conversation, Message
from muleteer.errors import TooLongError
from muleteer.harness.brains import Lane
from muleteer.harness.clip import clipped
from muleteer.harness.prompts import render
from muleteer.harness.staged import Build

CUT = "The system message has {tokens} tokens and at most {limit} are used; it was cut."


class Room:
    """Prompts of at most `limit` tokens. `dropped` is the most messages that one of them was without."""

    def __init__(self, lane: Lane, limit: int) -> None:
        self._lane, self._limit = lane, limit
        self.dropped = 0

    async def fit(self, build: Build, messages: Sequence[Message]) -> Conversation:
        """The prompt with as many of the newest messages as fit; instructions in the first and the last
        message stay. Raises `TooLongError`."""
        told, rest = _split(messages)
        left, gone = list(rest), 0
        while True:
            marked = left
            if gone:
                marked = [replace(left[0], content=f"{render('left_out')}\n{left[0].content}"), *left[1:]]
            prompt = build((*told, *marked))
            tokens = await self._lane.count(prompt)
            if tokens <= self._limit:
                self.dropped = max(self.dropped, gone)
                return prompt
            if len(left) == 1:
                raise TooLongError(
                    f"The message makes a prompt of {tokens} tokens, with its instructions and its tool, but"
                    f" only {self._limit} fit; shorten it, or raise engine.context."
                )
            steps = _first_turn(left)
            left, gone = left[steps:], gone + steps


async def instructions(lane: Lane, text: str, limit: int) -> tuple[str, str]:
    """A guest's instructions, cut where they exceed `limit` tokens; and a warning, if they do."""
    tokens = await lane.count(text) if text else 0
    if tokens <= limit:
        return text, ""
    warning, left = CUT.format(tokens=tokens, limit=limit), len(text)
    while left and (now := await lane.count(short := clipped(text, left))) > limit:
        left = min(left - 1, left * limit // now)
    return short if left else "", warning


def _split(messages: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    at = int(messages[0].role == "system")
    return messages[:at], messages[at:]


def _first_turn(messages: Sequence[Message]) -> int:
    """How many messages go with the first one: what was said to it, and the results of its calls."""
    return next(i for i, each in enumerate(messages[1:], 1) if each.role == "user")
