"""A reply as it is written, cleaned on its way: calls are taken out of it, the machinery is hidden, and what
is not true is not said.

    model -> calls out (dialects) -> scrub -> guard (deeds), values (sources) -> the guest

Knows one text. Which prompt it is from, and what becomes of its calls, is `hosted.py`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from muleteer.engine.protocol import Conversation, Text, ToolSpec, Use
from muleteer.harness.brains import Lane
from muleteer.harness.claims import Guard
from muleteer.harness.dialects import Reader, ToolCall
from muleteer.harness.guests.values import Values
from muleteer.harness.ledger import Ledger
from muleteer.harness.scrub import Scrubber

Check = Guard | Values


@dataclass(frozen=True, slots=True)
class Written:
    """How a text ended: `cut` by a limit; `tripped`, since it was going to say what is not so; with `calls`
    that stood in it."""

    text: str
    cut: bool
    tripped: bool
    calls: tuple[ToolCall, ...]


class Pen:
    """Writes for one turn. `tools` are those whose calls a text may hold, `marks` the model's own for
    them."""

    def __init__(self, lane: Lane, ledger: Ledger, tools: Sequence[ToolSpec], marks: Sequence[str]) -> None:
        self._lane, self._ledger, self._tools, self._marks = lane, ledger, tools, marks

    async def write(
        self,
        level: str,
        prompt: Conversation,
        limit: int,
        stop: Sequence[str],
        checks: Sequence[Check],
        say: Callable[[str], None],
    ) -> Written:
        """At most `limit` tokens. Raises as the lane does."""
        reader = Reader(self._tools, self._marks)
        stages = (Scrubber([tool.name for tool in self._tools]), *checks)
        raw, said, cut, ended = "", "", False, False

        def pass_on(text: str, last: bool = False) -> None:
            nonlocal said
            for stage in stages:
                text = (stage.feed(text) if text else "") + (stage.finish() if last else "")
            said += text
            say(text)

        async with aclosing(self._lane.write(prompt, limit=limit, stop=stop)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Text):
                    self._ledger.book(level, piece.use)
                    cut, ended = piece.finish != "stop", True
                    continue
                raw += piece
                pass_on(reader.feed(piece))
                if _tripped(checks):
                    break
        if not ended:  # nobody waits for its end: what it cost is counted here, all of its prompt as decoded
            tokens = await self._lane.count(prompt)
            self._ledger.book(level, Use(tokens, 0, tokens, await self._lane.count(raw)))
            return Written(said, False, True, ())
        rest, calls = reader.finish(cut)
        pass_on(rest, last=True)
        return Written(said, cut, _tripped(checks), calls)


def _tripped(checks: Sequence[Check]) -> bool:
    return any(check.tripped for check in checks)
