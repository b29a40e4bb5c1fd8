"""A routing report: several models, menus and halves side by side, as JSON, Markdown and a picture.

Knows files and how a report is worded; the figures are `figures.py`'s.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from muleteer.errors import ConfigError
from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.batteries.reporting import Files
from muleteer.evaluate.batteries.running import Conditions
from muleteer.evaluate.routing.cases import HALVES, BatteryFile
from muleteer.evaluate.routing.figures import Figures, figures, first_of
from muleteer.evaluate.routing.picture import draw

SHOWN_CONFUSIONS = 12
SHOWN_WRONG = 60
RELATED = "Related also counts a tool of the wanted skill, and the skill of the wanted tool."
UNSAFE = "Unsafe are questions for which something that writes or acts was chosen and not wanted."


@dataclass(frozen=True, slots=True)
class Ran:
    """One model's run."""

    conditions: Conditions
    attempts: Sequence[Tried]


@dataclass(frozen=True, slots=True)
class Report:
    """`half` is which half of the battery was asked, or `all`: then each is counted by itself, too."""

    battery: BatteryFile
    half: str
    runs: Sequence[Ran]

    def found(self) -> list[tuple[str, str, Figures]]:
        """Model, half and figures, of every menu."""
        halves = ("all", *HALVES) if self.half == "all" else (self.half,)
        return [
            (
                run.conditions.model.name,
                half,
                figures(
                    menu,
                    [
                        one
                        for one in run.attempts
                        if one.side == menu and half in ("all", one.extra.get("half"))
                    ],
                ),
            )
            for run in self.runs
            for menu in dict.fromkeys(one.side for one in run.attempts)
            for half in halves
        ]

    def as_dict(self) -> dict[str, object]:
        return {
            "battery": str(self.battery.path),
            "bad_lines": list(self.battery.bad),
            "runs": [run.conditions.as_dict() for run in self.runs],
            "figures": [
                {"model": model, "half": half, **each.as_dict()} for model, half, each in self.found()
            ],
            "attempts": [
                {
                    "model": run.conditions.model.name,
                    "menu": one.side,
                    "wanted": one.group,
                    "got": one.got,
                    **one.extra,
                }
                for run in self.runs
                for one in run.attempts
            ],
        }

    def markdown(self) -> str:
        first = self.runs[0].conditions
        parts = [
            f"# Routing: {self.battery.path.name}",
            f"`{first.command}`",
            *(f"Not used: {bad}" for bad in self.battery.bad),
            _overall(self.found()),
            f"{RELATED} {UNSAFE}",
        ]
        whole = self.half if self.half != "all" else "all"
        for model, half, each in self.found():
            if half == whole:
                parts += [f"## {model}, menu {each.menu}", _details(each)]
        for run in self.runs:
            wrong = [one for one in run.attempts if not one.right]
            parts += [f"## Wrong: {run.conditions.model.name}", _wrong(wrong)]
        return "\n\n".join(parts) + "\n"

    def save(self, files: Files) -> None:
        """Raises `ConfigError` where a file cannot be written."""
        try:
            if files.json:
                text = json.dumps(self.as_dict(), indent=1, ensure_ascii=False)
                files.json.write_text(f"{text}\n", encoding="utf-8")
            if files.markdown:
                files.markdown.write_text(self.markdown(), encoding="utf-8")
            if files.plot:
                draw(self.found(), f"Routing: {self.battery.path.name}", files.plot)
        except OSError as error:
            raise ConfigError(f"{error.filename} cannot be written: {error.strerror}.") from error


def _overall(found: Sequence[tuple[str, str, Figures]]) -> str:
    head = (
        "model | menu | half | right | related | a handle | rightly none | refused | two | unsafe"
        " | asked twice | decoded | menu tokens | s"
    )
    rows = [
        f"{model} | {each.menu} | {half} | {each.right} | {each.related.share:.1%} | {each.handles.share:.1%}"
        f" | {each.replies} | {each.refused} | {each.doubled} | {len(each.unsafe)} | {each.again}"
        f" | {each.decoded + each.generated:.1f} | {each.menu_tokens} | {each.seconds:.2f}"
        for model, half, each in found
    ]
    return _table(head, rows)


def _details(each: Figures) -> str:
    handles = _table("handle | right", [f"@{handle} | {share}" for handle, share in each.by_handle.items()])
    confused = _table(
        "wanted | got | times", [f"@{w} | @{g} | {n}" for w, g, n in each.confusions[:SHOWN_CONFUSIONS]]
    )
    sure = _table("confidence from | right", [f"{low:.2f} | {share}" for low, share in each.calibration])
    unsafe = "\n".join(f"- unsafe: {said}" for said in each.unsafe)
    return "\n\n".join(part for part in (handles, confused, sure, unsafe) if part)


def _wrong(attempts: Sequence[Tried]) -> str:
    rows = [
        f"{one.extra.get('message', '')} | {one.side} | @{one.group} | @{first_of(one)}"
        f" | {one.extra.get('confidence', 0):.2f}"
        for one in attempts[:SHOWN_WRONG]
    ]
    more = f"\n\nand {len(attempts) - SHOWN_WRONG} more" if len(attempts) > SHOWN_WRONG else ""
    return _table("message | menu | wanted | got | confidence", rows) + more


def _table(head: str, rows: Sequence[str]) -> str:
    """A Markdown table; a bar inside a cell's text is escaped by who writes it."""
    line = "|".join("---" for _ in head.split("|"))
    return "\n".join(f"| {row} |" for row in (head, line, *rows)) if rows else ""
