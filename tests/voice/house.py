"""A house that answers as a test says, at once: for what is about sound and not about the model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from muleteer.voice.conversation.house import Told


class AnsweringHouse:
    """Every turn says `answer`. `asked` is what was wanted, `given_up` the turns that were ended before."""

    def __init__(self, answer: str = "Done.", names: list[str] | None = None) -> None:
        self.answer, self._names = answer, names or []
        self.asked: list[str] = []
        self.given_up: list[str] = []
        self.endless = False

    async def turn(self, text: str) -> AsyncGenerator[Told, None]:
        self.asked.append(text)
        try:
            yield "turn.started", {"turn": "t"}
            yield "text", {"text": self.answer}
            if self.endless:
                await asyncio.Event().wait()
            yield "turn.finished", {"answer": self.answer}
        except (GeneratorExit, asyncio.CancelledError):
            self.given_up.append(text)
            raise

    async def confirm(self, turn: str, yes: bool) -> AsyncGenerator[Told, None]:
        self.asked.append("yes" if yes else "no")
        yield "turn.finished", {"answer": ""}

    async def events(self) -> AsyncGenerator[Told, None]:
        await asyncio.Event().wait()
        yield "", {}

    async def warm(self) -> None:
        return

    async def silence(self) -> None:
        return

    async def names(self) -> list[str]:
        return self._names
