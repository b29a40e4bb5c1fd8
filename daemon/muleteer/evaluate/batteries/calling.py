"""Batteries of calls: a message, functions to choose from, and what must be called with what.

Two sides on the same engine: `harness` stages the functions (`harness/staged.py`), `flat` shows the model
all of them at once in its own template and reads the calls from what it writes. Knows both paths and BFCL's
cases; nothing of running a tool.
"""

from __future__ import annotations

from collections.abc import Sequence

from muleteer.engine.client import Engine
from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.evaluate.batteries import bfcl
from muleteer.evaluate.batteries.battery import HARNESS, SIDES, Answered, Case
from muleteer.evaluate.batteries.bfcl import Call, Question
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.harness.brains import Said
from muleteer.harness.events import LevelUse
from muleteer.harness.ledger import Ledger
from muleteer.harness.staged import Staged
from muleteer.harness.talking import Talking

NO_LIMIT = 10**6
READY = 60.0  # seconds that an engine between two requests may take to be there again
REPLY = 400  # tokens of a flat reply, as many as the harness may fill
TOKENS_A_TOOL = 160  # of a schema in the model's template; BFCL's mean is 133
KEPT = 4  # staged sets of tools: those of one block are asked one after the other
FLAT_SYSTEM = "You are a helpful assistant. Call a function if one does what is asked; else answer in words."


class Calls:
    """A battery of BFCL's form. With `pools` (by case), a case is shown these functions instead of its own,
    and both sides find the constant part of their prompts decoded: the functions are those of a home, not of
    a message."""

    together = False

    def __init__(
        self,
        name: str,
        questions: Sequence[Question],
        groups: Sequence[str],
        sides: Sequence[str] = SIDES,
        pools: Sequence[Sequence[ToolSpec]] = (),
        context: int = 4096,
    ) -> None:
        self.name, self.sides, self.context = name, tuple(sides), context
        self.cases = [
            Case(f"{group} {question.id}", group) for question, group in zip(questions, groups, strict=True)
        ]
        ids = [case.id for case in self.cases]
        self._questions = dict(zip(ids, questions, strict=True))
        self._tools = dict(zip(ids, pools or [question.tools for question in questions], strict=True))
        self._warm = bool(pools)
        self._staged: dict[tuple[str, ...], Staged] = {}
        self.digest = digest_of(
            f"{id} {self._questions[id]} {[tool.name for tool in self._tools[id]]}" for id in ids
        )

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        if not self._warm:
            return
        tools, lane = self._tools[case.id], engine.lane()
        if side == HARNESS:
            wanted = [name for answer in self._questions[case.id].accepted for name in answer]
            for prompt in self._stage(tools).constants(wanted):
                await lane.warm(prompt)
        else:
            await lane.warm(flat_prompt(tools, (Message("user", ""),)))

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        question, tools = self._questions[case.id], self._tools[case.id]
        ledger = Ledger(NO_LIMIT, lambda event: None)
        extra: dict[str, object] = {}
        if side == HARNESS:
            decision = await self._stage(tools).decide(engine.lane(), ledger, question.messages)
            calls: list[Call] = [(call.name, call.arguments) for call in decision.calls]
            extra["shares"] = {name: round(share, 4) for name, share in decision.shares.items()}
        else:
            calls, extra["said"] = await flat_reply(engine, ledger, tools, question.messages)
        shown = ", ".join(f"{name}({dict(arguments)})" for name, arguments in calls)
        why = bfcl.complaint(question, calls) if len(calls) < 2 else "several functions were called"
        return Answered(not why, shown, why, extra), ledger.levels

    def _stage(self, tools: Sequence[ToolSpec]) -> Staged:
        key = tuple(tool.name for tool in tools)
        if key not in self._staged:
            while len(self._staged) >= KEPT:
                del self._staged[next(iter(self._staged))]
            self._staged[key] = Staged(tools)
        return self._staged[key]


def flat_prompt(tools: Sequence[ToolSpec], messages: Sequence[Message]) -> Conversation:
    """All functions in the model's own template; a caller's system text takes the place of ours."""
    own = () if messages[0].role == "system" else (Message("system", FLAT_SYSTEM),)
    return Conversation((*own, *messages), tuple(tools), constant=1)


async def flat_reply(
    engine: Engine, ledger: Ledger, tools: Sequence[ToolSpec], messages: Sequence[Message]
) -> tuple[list[Call], str]:
    """The calls of one flat reply, in order, those with a fault left out; and its prose, with
    those faults."""
    talking = Talking(engine.lane(), (await engine.ready(READY)).call_marks)
    found: list[Call] = []
    text = ""
    async for part in talking.talk(flat_prompt(tools, messages), limit=REPLY):
        if isinstance(part, Said):
            ledger.book("flat", part.use)
            text = " ".join([part.text, *(f"[{call.fault}]" for call in part.calls if call.fault)])
            found = [(call.name, call.arguments or {}) for call in part.calls if not call.fault]
    return found, text


def pooled(
    questions: Sequence[Question], size: int, others: Sequence[ToolSpec]
) -> tuple[list[Question], list[list[ToolSpec]]]:
    """The questions in blocks whose own functions fit into `size`, and for each the functions of its block,
    filled up from `others`: always the same, in the order of their names, so that no place tells the right
    one. A question whose own functions do not fit is left out."""
    kept: list[Question] = []
    pools: list[list[ToolSpec]] = []
    block: list[Question] = []
    inside: dict[str, ToolSpec] = {}

    def close() -> None:
        filled = dict(inside)
        for tool in others:
            if len(filled) >= size:
                break
            filled.setdefault(tool.name, tool)
        pool = [filled[name] for name in sorted(filled)]
        kept.extend(block)
        pools.extend([pool] * len(block))

    for question in questions:
        own = {tool.name: tool for tool in question.tools}
        if len(own) > size:
            continue
        clash = any(inside.get(name, tool) != tool for name, tool in own.items())
        if clash or len({**inside, **own}) > size:
            close()
            block, inside = [], {}
        block.append(question)
        inside.update(own)
    if block:
        close()
    return kept, pools


def loaded(questions: Sequence[Question], sizes: Sequence[int], sides: Sequence[str] = SIDES) -> Calls:
    """The same questions once for each number of tools in reach, in blocks that share their tools."""
    others = every_tool(("multiple",))
    kept: list[Question] = []
    pools: list[list[ToolSpec]] = []
    groups: list[str] = []
    for size in sizes:
        found, around = pooled(questions, size, others)
        kept += found
        pools += around
        groups += [f"{size} tools"] * len(found)
    context = max(4096, TOKENS_A_TOOL * max(sizes) + 4096)
    return Calls("load", kept, groups, sides, pools, context)


def every_tool(categories: Sequence[str]) -> list[ToolSpec]:
    """All functions of these categories, in the order of their cases."""
    found: list[ToolSpec] = []
    for category in categories:
        found += [tool for question in bfcl.read(category, bfcl.folder()) for tool in question.tools]
    return found
