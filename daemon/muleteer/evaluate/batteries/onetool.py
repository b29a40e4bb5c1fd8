"""Turns of one tool in a home of 4 tools and in one of 24: what the levels cost against the flat loop, warm.

The tools return fixed results: a sentence that is the answer, or a text that one must be written from. The
larger home is the shipped one with made-up tools of strangers, which have one parameter each; real ones have
more, which only the flat loop would read. Knows homes and cases; the ratios are of the turns that both got
right.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from muleteer import paths
from muleteer.catalogue.declared import Loaded, name_of, read_tool
from muleteer.engine.client import Engine
from muleteer.evaluate.batteries.battery import FLAT, HARNESS, SIDES, Answered, Case, Tried
from muleteer.evaluate.batteries.home import Home
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.batteries.shipped import ROOT, Simulated, data_text, read_lines
from muleteer.evaluate.batteries.turns import Whole, judged
from muleteer.evaluate.routing.cases import foreign_lines
from muleteer.harness.events import LevelUse
from muleteer.skills import Catalogue, MenuLine, load_catalogue
from muleteer.tool import Document, Result, Services, tool

FILE = "onetool.jsonl"
SMALL = ("http_get", "recipe_book", "switch", "timer")
"""The tools of the small home; every case is about one of them."""
LARGE = 24
LEVELS = ("planner", "answer", "follower:home-control", *(f"agent:{name}" for name in SMALL))


@dataclass(frozen=True, slots=True)
class One:
    """A case. `found` is what its one tool returns; `written` whether the answer must be written from it."""

    whole: Whole
    found: str
    written: bool


class OneTool:
    """The battery. Its groups are a home's size and a kind of answer."""

    name = "onetool"
    context = 12_288  # both homes' prompts: all 24 tools in one beside those of the levels
    together = False

    def __init__(self, cases: Sequence[One], sides: Sequence[str] = SIDES) -> None:
        self._homes = {size: _home(size, self.context // 2) for size in (len(SMALL), LARGE)}
        self.sides = tuple(sides)
        self._ones = {f"{size} {one.whole.id}": (size, one) for size in self._homes for one in cases}
        self.cases = [Case(id, f"{size} tools, {one.whole.group}") for id, (size, one) in self._ones.items()]
        self.digest = digest_of([data_text(FILE), *self._ones])

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        size, _ = self._ones[case.id]
        await self._homes[size].warm(engine, side)

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        size, one = self._ones[case.id]
        home = self._homes[size]
        said, levels = await home.turn(side, one.whole.message, _results(one, side))
        return judged(one.whole, home.called, said), levels


def _results(one: One, side: str) -> Mapping[str, Sequence[Result]]:
    """What the tool returns. A text goes to the harness as a document, which no level but the last reads, and
    to the flat loop as what the tool says."""
    whole = one.written and side == HARNESS
    result = Result.ok("I read it.", Document("page", one.found)) if whole else Result.ok(one.found)
    return dict.fromkeys(one.whole.must, (result,))


def read() -> list[One]:
    """The shipped cases."""
    return read_lines(FILE, _one)


def _one(data: Mapping[str, Any]) -> One:
    kind = "the model writes" if data["written"] else "speaks for itself"
    whole = Whole(data["id"], kind, data["message"], {}, (data["tool"],), says=(data["says"],))
    arguments = ((data["tool"], data["given"]),) if "given" in data else ()
    return One(replace(whole, arguments=arguments), data["found"], data["written"])


def _home(size: int, prompt: int) -> Home:
    toolbox = Simulated.load(paths.tool_folders()[:ROOT], Services())
    assert isinstance(toolbox, Simulated)  # noqa: S101  (for the type checker: `load` makes its own class)
    for line in foreign_lines():
        if size == len(SMALL) or len(toolbox.tools) < size:
            toolbox.adopt(_stranger(line), "the battery")
    if size == len(SMALL):
        for name in set(toolbox.tools) - set(SMALL):
            toolbox.disable(name, "It is not in the small home.")
    toolbox.begin({})
    catalogue: Catalogue = load_catalogue(paths.skill_folders()[:ROOT], toolbox)
    return Home(catalogue, toolbox, prompt, LEVELS)


def _stranger(line: MenuLine) -> Loaded:
    """A tool of a line of a menu."""

    async def function(request: str) -> Result:
        return Result.empty(f"Nothing was found about {request}.")

    function.__name__ = name_of(line.handle)
    function.__doc__ = f"{line.description}\n\nrequest: what it is about, in a few words"
    loaded = read_tool(tool(effect=line.effect, examples=line.examples)(function), "")
    if isinstance(loaded, str):
        raise TypeError(loaded)
    return loaded


def ratios(attempts: Sequence[Tried]) -> str:
    """By group, of the cases that both sides got right: the harness's seconds (median of the ratios, case by
    case) and tokens (ratio of the means) by those of the flat loop."""
    lines = [
        "| both right | n | seconds, harness / flat | tokens, harness | tokens, flat | harness / flat |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    by_case: dict[str, dict[str, Tried]] = {}
    for one in attempts:
        if one.right:
            by_case.setdefault(one.case, {})[one.side] = one
    pairs = [(both[HARNESS], both[FLAT]) for both in by_case.values() if len(both) == len(SIDES)]
    for group in dict.fromkeys(mine.group for mine, _ in pairs):
        own = [pair for pair in pairs if pair[0].group == group]
        seconds = statistics.median(mine.seconds / flat.seconds for mine, flat in own)
        mine, flat = (statistics.fmean(pair[side].tokens for pair in own) for side in (0, 1))
        lines.append(
            f"| {group} | {len(own)} | {seconds:.2f} | {mine:.0f} | {flat:.0f} | {mine / flat:.2f} |"
        )
    return "\n".join(lines)
