"""Whole turns with simulated tools: what must be called and said, and what must not.

The harness side is a turn as the daemon runs it; the flat side is the flat loop over the same tools. Checked
by code. Knows both; nothing of real tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muleteer.engine.client import Engine
from muleteer.evaluate.batteries.battery import SIDES, Answered, Case
from muleteer.evaluate.batteries.home import Home
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.batteries.shipped import catalogue, data_text, read_lines, result_of
from muleteer.harness.events import LevelUse
from muleteer.tool import Result

ANY = "*"
"""In `must_not`: every tool there is."""


@dataclass(frozen=True, slots=True)
class Whole:
    """One case. `arguments`: by tool, a pattern that its arguments as JSON must hold; `says` and `not_says`
    are patterns of the answer; of `must_any` one tool at least must be called."""

    id: str
    group: str
    message: str
    results: Mapping[str, tuple[Result, ...]]
    must: tuple[str, ...] = ()
    must_any: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    says: tuple[str, ...] = ()
    not_says: tuple[str, ...] = ()


class Turns:
    """The battery: the shipped skills and tools in one simulated home."""

    name = "turns"
    context = 8192  # the harness's prompts beside all tools in one
    together = False

    def __init__(self, cases: Sequence[Whole], sides: Sequence[str] = SIDES) -> None:
        self._home = Home(*catalogue(), self.context // 2)
        self.sides = tuple(sides)
        self._wholes = {whole.id: whole for whole in cases}
        self.cases = [Case(whole.id, whole.group) for whole in cases]
        self.digest = digest_of([data_text("turns.jsonl"), *self._wholes])

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        await self._home.warm(engine, side)

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        whole = self._wholes[case.id]
        said, levels = await self._home.turn(side, whole.message, whole.results)
        return judged(whole, self._home.called, said), levels


def judged(whole: Whole, called: Sequence[tuple[str, Mapping[str, Any]]], said: str) -> Answered:
    """What a turn came to, and why that is wrong."""
    why = complaint(whole, called, said)
    shown = ", ".join(f"{name}({json.dumps(given, ensure_ascii=False)})" for name, given in called)
    return Answered(not why, f"[{shown}] {said}", why)


def read() -> list[Whole]:
    """The shipped cases."""
    return read_lines("turns.jsonl", _whole)


def _whole(data: Mapping[str, Any]) -> Whole:
    results = {tool: tuple(map(result_of, given)) for tool, given in data["results"].items()}
    lists = ("must", "must_any", "must_not", "says", "not_says")
    return Whole(
        data["id"],
        data["group"],
        data["message"],
        results,
        arguments=tuple(data.get("arguments", {}).items()),
        **{name: tuple(data.get(name, ())) for name in lists},
    )


def complaint(whole: Whole, called: Sequence[tuple[str, Mapping[str, Any]]], said: str) -> str:
    """What is wrong with a turn; empty when nothing is."""
    names = [name for name, _ in called]
    if missing := [name for name in whole.must if name not in names]:
        return f"{missing[0]} was not called"
    if whole.must_any and not set(names) & set(whole.must_any):
        return f"none of {', '.join(whole.must_any)} was called"
    if forbidden := [name for name in names if ANY in whole.must_not or name in whole.must_not]:
        return f"{forbidden[0]} was called"
    for name, pattern in whole.arguments:
        if not any(tool == name and re.search(pattern, json.dumps(given)) for tool, given in called):
            return f"{name} was not called with {pattern}"
    if unsaid := [pattern for pattern in whole.says if not re.search(pattern, said)]:
        return f"the answer does not say {unsaid[0]}"
    if over := [pattern for pattern in whole.not_says if re.search(pattern, said)]:
        return f"the answer says {over[0]}"
    return ""
