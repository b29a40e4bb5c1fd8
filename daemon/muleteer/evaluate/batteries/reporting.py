"""A run's report as files: JSON, Markdown and a picture. Each says command, machine, model and versions.

Knows files and how a report is worded; the figures are `summary.py`'s.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from muleteer.errors import ConfigError
from muleteer.evaluate import plot
from muleteer.evaluate.batteries import picture, summary
from muleteer.evaluate.batteries.battery import FLAT, Tried
from muleteer.evaluate.batteries.running import Conditions

INSTALL = "pip install 'muleteer[bench]'"


@dataclass(frozen=True, slots=True)
class Files:
    """Where a report goes; None for what is not wanted."""

    json: Path | None = None
    markdown: Path | None = None
    plot: Path | None = None

    def check(self) -> None:
        """Raise `ConfigError` now for what could not be written at the end."""
        if self.plot and not plot.installed():
            raise ConfigError(f"A plot needs matplotlib: run `{INSTALL}`, or leave --plot.")
        for file in self.written():
            if not file.parent.is_dir():
                raise ConfigError(f"There is no folder {file.parent} for {file.name}; make it first.")

    def written(self) -> list[Path]:
        return [file for file in (self.json, self.markdown, self.plot) if file]


@dataclass(frozen=True, slots=True)
class Report:
    """One battery's run. `against` is the side that the others are compared with; `note` is what a reader
    must know besides."""

    battery: str
    conditions: Conditions
    attempts: Sequence[Tried]
    against: str = FLAT
    note: str = ""

    @property
    def title(self) -> str:
        model, cpu = self.conditions.model.name, self.conditions.machine["cpu"]
        return f"{self.battery}: {model} on {cpu}"

    def as_dict(self) -> dict[str, object]:
        return {
            "battery": self.battery,
            **self.conditions.as_dict(),
            "note": self.note,
            "rows": [row.as_dict() for row in summary.rows(self.attempts)],
            "differences": [one.as_dict() for one in summary.differences(self.attempts, self.against)],
            "wrong": [
                {"case": one.case, "side": one.side, "got": one.got, "why": one.why}
                for one in self.attempts
                if not one.right
            ],
        }

    def markdown(self) -> str:
        conditions, machine = self.conditions, self.conditions.machine
        versions = ", ".join(f"{name} {version}" for name, version in conditions.versions.items())
        parts = [
            f"# {self.title}",
            f"`{conditions.command}`",
            f"Model {conditions.model.name} ({Path(conditions.model.path).name}, SHA-256 "
            f"{conditions.model_digest}), {conditions.model.threads} threads, context "
            f"{conditions.model.context}; {machine['cores']} cores, load {machine['load']}; {versions}.",
            self.note,
            summary.markdown(self.attempts, self.against, whole=len(summary.sides_of(self.attempts)) < 6),
            "Wrong:",
            summary.wrong(self.attempts),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def save(self, files: Files) -> None:
        try:
            if files.json:
                text = json.dumps(self.as_dict(), indent=1, ensure_ascii=False)
                files.json.write_text(f"{text}\n", encoding="utf-8")
            if files.markdown:
                files.markdown.write_text(self.markdown(), encoding="utf-8")
            if files.plot:
                picture.draw(summary.rows(self.attempts), self.title, files.plot)
        except OSError as error:
            raise ConfigError(f"{error.filename} cannot be written: {error.strerror}.") from error
