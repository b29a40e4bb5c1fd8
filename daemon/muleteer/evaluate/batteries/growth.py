"""How many tokens one call costs as more tools are installed: counted, not decoded, so that it takes seconds.

A lane that only counts stands in for the model and always chooses rightly. What it counts is exact: the
prompts are those of the staged path (`harness/staged.py`), the tokens the model's own.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass

from muleteer.engine.protocol import Choice, Conversation, JsonSchema, Text, ToolSpec, Use
from muleteer.evaluate.batteries.bfcl import Question
from muleteer.evaluate.batteries.calling import NO_LIMIT, flat_prompt
from muleteer.evaluate.rig import Tokens
from muleteer.harness.ledger import Ledger
from muleteer.harness.staged import NONE, Staged

FLAT_EVERY = 8  # messages: a flat prompt of 800 tools has a hundred thousand tokens


@dataclass(frozen=True, slots=True)
class Growth:
    """Means a message with so many `tools` in reach, in tokens. `cold`: nothing is kept. `warm`: constant
    prompts lie in the context already, and so does the message before, whose beginning may be shared:
    the rules stand before the lines of a menu. `flat_*`: the same for all tools in one prompt. `found`:
    share of the messages whose right tool was scored at all."""

    tools: int
    n: int
    cold: float
    warm: float
    flat_cold: float
    flat_warm: float
    found: float


class _Counting:
    """A lane that counts what each prompt would cost, and chooses what is right where that is offered."""

    def __init__(self, tokens: Tokens, right: Collection[str], last: dict[str, list[int]]) -> None:
        """`last` has the tokens of the last prompt of each level, and is kept up."""
        self._tokens, self._right, self._last = tokens, right, last
        self.cold = self.decoded = 0
        self.found = False

    async def count(self, prompt: Conversation | str) -> int:
        return len(self._tokens.of(prompt)) if isinstance(prompt, Conversation) else len(prompt.split())

    async def warm(self, prompt: Conversation) -> Use:
        return Use()

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        self.book("choice", prompt)
        best = next((option for option in options if option in self._right), NONE)
        self.found = best != NONE
        return Choice(tuple(float(option == best) for option in options), Use())

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        self.book("agent", prompt)
        return Text("{}", "stop", Use())

    async def write(
        self, prompt: Conversation, *, limit: int, stop: Sequence[str] = (), prompt_limit: int | None = None
    ) -> AsyncGenerator[str | Text, None]:
        self.book("write", prompt)
        yield Text("", "stop", Use())

    def book(self, level: str, prompt: Conversation) -> None:
        whole = self._tokens.of(prompt)
        kept = max(len(self._tokens.constant(prompt)), shared(whole, self._last.get(level, [])))
        self._last[level] = whole
        self.cold += len(whole)
        self.decoded += len(whole) - kept


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (mine, its) in pairs if mine != its), min(len(one), len(other)))


async def growth(
    tokens: Tokens, questions: Sequence[Question], pools: Sequence[Sequence[ToolSpec]], tools: int
) -> Growth:
    """What these messages cost, each with its pool of tools."""
    staged: dict[int, Staged] = {}
    counts: list[tuple[int, int, bool]] = []
    last: dict[str, list[int]] = {}
    flat = _Counting(tokens, (), {})
    for number, (question, pool) in enumerate(zip(questions, pools, strict=True)):
        if id(pool) not in staged:
            staged[id(pool)] = Staged(pool)
        lane = _Counting(tokens, {name for answer in question.accepted for name in answer}, last)
        await staged[id(pool)].decide(lane, Ledger(NO_LIMIT, lambda event: None), question.messages)
        counts.append((lane.cold, lane.decoded, lane.found))
        if number % FLAT_EVERY == 0:
            flat.book("flat", flat_prompt(pool, question.messages))
    cold, warm, found = (statistics.fmean(column) for column in zip(*counts, strict=True))
    asked = math.ceil(len(counts) / FLAT_EVERY)
    return Growth(tools, len(counts), cold, warm, flat.cold / asked, flat.decoded / asked, found)


def markdown(rows: Sequence[Growth]) -> str:
    """The table, with each row's growth over the first."""
    lines = [
        "| tools | n | right one scored | staged, cold | over the first | staged, warm | over the first "
        "| flat, cold | flat, warm |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    first = rows[0]
    lines += [
        f"| {row.tools} | {row.n} | {100 * row.found:.1f} % "
        f"| {row.cold:.0f} | {100 * (row.cold / first.cold - 1):+.1f} % "
        f"| {row.warm:.0f} | {100 * (row.warm / first.warm - 1):+.1f} % "
        f"| {row.flat_cold:,.0f} | {row.flat_warm:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)
