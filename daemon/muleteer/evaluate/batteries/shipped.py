"""The shipped skills and tools as batteries use them, with results that a case has made up.

Knows the catalogue; nothing of models. A tool that is called returns what the case says, else a fixed
sentence: nothing is switched, written or fetched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from muleteer import paths
from muleteer.errors import ConfigError
from muleteer.skills import Catalogue, load_catalogue
from muleteer.tool import Document, Notes, Result, Services, Status
from muleteer.toolbox import Outcome, Toolbox

ROOT = 1  # of the folders of skills and tools, the shipped one comes first; a user's own are no battery's


class Simulated(Toolbox):
    """Tools that only pretend. `results` are what each returns next, the last one again and again; `called`
    is what was called, with its arguments."""

    results: Mapping[str, Sequence[Result]] = {}
    called: list[tuple[str, dict[str, Any]]]

    def begin(self, results: Mapping[str, Sequence[Result]]) -> None:
        self.results, self.called = results, []

    async def call(self, name: str, arguments: Mapping[str, object]) -> Outcome:
        before = sum(tool == name for tool, _ in self.called)
        self.called.append((name, dict(arguments)))
        queued = self.results.get(name, ())
        if name not in self.tools:
            return Outcome(name, Result.error(f"unknown tool '{name}'"), 0.0)
        if not queued:
            return Outcome(name, Result.empty("Nothing was found."), 0.0)
        return Outcome(name, queued[min(before, len(queued) - 1)], 0.0)


def catalogue() -> tuple[Catalogue, Simulated]:
    """The shipped skills over simulated tools."""
    toolbox = Simulated.load(paths.tool_folders()[:ROOT], Services())
    assert isinstance(toolbox, Simulated)  # noqa: S101  (for the type checker: `load` makes its own class)
    toolbox.begin({})
    return load_catalogue(paths.skill_folders()[:ROOT], toolbox), toolbox


def result_of(data: Mapping[str, Any]) -> Result:
    """A made-up result, from its one key (the status) and what it returns: a sentence, a list of notes, or
    `name` and `text` of a document. Its text holds everything: the flat loop sees nothing else."""
    ((status, found),) = data.items()
    match found:
        case [*notes]:
            return Result(Status(status), f"{len(notes)} notes: {' '.join(notes)}", Notes(tuple(notes)))
        case {"name": name, "text": text}:
            return Result(Status(status), f"{name}: {text}", Document(name, text))
        case _:
            return Result(Status(status), str(found))


def data_text(name: str) -> str:
    """A shipped data file."""
    return files(__package__).joinpath("data", name).read_text(encoding="utf-8")


def read_lines(name: str, of: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    """The lines of a shipped JSON Lines file, each made into a case. Raises `ConfigError` naming the line
    that is none."""
    found = []
    for number, line in enumerate(data_text(name).splitlines(), 1):
        try:
            found.append(of(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"Line {number} of {name} is no case: {error!r}.") from error
    return found
