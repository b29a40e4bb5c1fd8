"""Variants of the planner's system text on a routing battery: which words choose best.

Each variant is a text file with `$menu` in it, as the shipped prompt is; the one in force takes part under
the name `in force`. What is measured is the model's first choice alone, since that is all that words can
change: no rules, no likeness to examples, no second look. Knows the planner's prompt; not how a table is
drawn.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from string import Template

from muleteer.engine.client import Engine
from muleteer.engine.protocol import Conversation, Message
from muleteer.errors import ConfigError
from muleteer.evaluate.batteries.battery import Answered, Case, Tried
from muleteer.evaluate.batteries.intervals import paired
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.batteries.shipped import catalogue
from muleteer.evaluate.routing.cases import read_battery, shipped
from muleteer.harness import prompts
from muleteer.harness.events import LevelUse
from muleteer.harness.menu import Fit
from muleteer.harness.planner import REPLY, Planner
from muleteer.harness.weighing import decide

IN_FORCE = "in force"
LEAST = 1e-6  # a share below it counts as it: one hopeless message must not decide
NO_LIMIT = 10**6  # tokens: a sweep compares guidance of any length


def read_routing(file: Path | None, half: str = "all") -> list[tuple[str, str]]:
    """The messages and handles of one half of a routing battery, the shipped one if none is named. Raises
    `ConfigError` for a file that has none, and for a line that is none."""
    found = read_battery(file or shipped(), catalogue()[0].handles)
    if found.bad:
        raise ConfigError(f"The battery {found.path} cannot be used. {found.bad[0]}")
    lines = [(line.message, line.handle) for line in found.lines if half in ("all", line.half)]
    if not lines:
        raise ConfigError(f"The battery {found.path} has no case in its half {half!r}.")
    return lines


def read_variants(folder: Path) -> dict[str, str]:
    """The texts of a folder by file name without ending. Raises `ConfigError` for one without `$menu`."""
    try:
        found = {file.stem: file.read_text(encoding="utf-8").strip() for file in sorted(folder.glob("*.txt"))}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The variants in {folder} cannot be read: {error}.") from error
    if not found:
        raise ConfigError(f"There is no variant in {folder}: put one text with $menu into each .txt file.")
    for name, text in found.items():
        if Template(text).get_identifiers() != ["menu"]:
            raise ConfigError(f"The variant {name} needs exactly one placeholder, $menu.")
    return found


def shipped_variants() -> Path:
    """The folder of variants that the shipped guidance was chosen from."""
    return Path(str(files(__package__).joinpath("data", "planner_variants")))


class Sweep:
    """A battery whose sides are the variants. All cases of one variant come together, since its prompt is
    long and decoded once. `bare`: without example exchanges, which says what the words
    alone are worth, at a third of the tokens."""

    name = "sweep"
    context = 4096
    together = True

    def __init__(
        self, variants: Mapping[str, str], battery: Sequence[tuple[str, str]], bare: bool = False
    ) -> None:
        menu = catalogue()[0].menu()
        fit = Fit(frozenset(line.handle for line in menu), 0) if bare else None
        self._planner = Planner(menu, NO_LIMIT, fit)
        self._old = self._planner.prompt("").messages[0].content
        lines = "\n".join(f"- @{line.handle}: {line.description}" for line in menu)
        texts = {name: Template(text).substitute(menu=lines) for name, text in variants.items()}
        self._texts = {IN_FORCE: self._old, **texts}
        self._wanted = {f"{number:04d} {message}": handle for number, (message, handle) in enumerate(battery)}
        self.sides = tuple(self._texts)
        self.cases = [
            Case(id, "none" if handle == REPLY else "a handle") for id, handle in self._wanted.items()
        ]
        self.digest = digest_of(
            [f"{bare}", *self._texts.values(), *(f"{id}\t{h}" for id, h in self._wanted.items())]
        )

    def only(self, sides: Sequence[str]) -> None:
        """Run these variants alone, if any are named; the one in force always."""
        if unknown := [side for side in sides if side not in self._texts]:
            raise ConfigError(f"There is no variant {unknown[0]!r}; there are {', '.join(self._texts)}.")
        if sides:
            self.sides = tuple(name for name in self._texts if name == IN_FORCE or name in sides)

    def _prompt(self, side: str, message: str) -> Conversation:
        """The planner's prompt with the words of a variant."""
        prompt = self._planner.prompt(message)
        system = Message("system", self._texts[side])
        return replace(prompt, messages=(system, *prompt.messages[1:]))

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        await engine.lane().warm(self._prompt(side, ""))

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        message, wanted = case.id.partition(" ")[2], self._wanted[case.id]
        options = (*self._planner.handles, REPLY)
        choice = await engine.lane().choose(self._prompt(side, message), [f"@{each}" for each in options])
        shares = dict(zip(options, choice.probabilities, strict=True))
        plan = decide(shares)
        got = "+".join(plan.handles) if plan else REPLY
        why = "" if got == wanted else f"{wanted} was wanted"
        extra = {"share": round(shares.get(wanted, 0.0), 6)}
        return Answered(got == wanted, got, why, extra), [LevelUse.of("planner", choice.use)]


def ranking(attempts: Sequence[Tried]) -> str:
    """The variants by how likely the model alone finds what is wanted (mean natural logarithm of its share),
    with what each gains over the one in force, message by message: finer than right or wrong."""
    logs: dict[str, dict[str, float]] = {}
    for one in attempts:
        logs.setdefault(one.side, {})[one.case] = math.log(max(one.extra["share"], LEAST))
    base = logs.get(IN_FORCE, {})
    lines = [
        "| variant | n | mean log share | over the one in force | 95 % interval |",
        "|---|--:|--:|--:|---|",
    ]
    for side in sorted(logs, key=lambda side: -statistics.fmean(logs[side].values())):
        gains = [log - base[case] for case, log in logs[side].items() if case in base]
        low, high = paired(gains)
        lines.append(
            f"| {side} | {len(logs[side])} | {statistics.fmean(logs[side].values()):.3f} "
            f"| {statistics.fmean(gains) if gains else 0.0:+.3f} | {low:+.3f} to {high:+.3f} |"
        )
    return "\n".join(lines)


def shipped_guidance() -> str:
    """The planner's text that is in force, with `$menu` in it."""
    return prompts.render("planner", menu="$menu")
