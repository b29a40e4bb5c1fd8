"""What every command of `muleteer evaluate` that runs a battery has in common: options, progress, report."""

from __future__ import annotations

import math
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from muleteer.evaluate.batteries.battery import Cases, Tried
    from muleteer.evaluate.batteries.reporting import Report
    from muleteer.evaluate.batteries.running import Conditions

T = TypeVar("T")

BOTH = ("harness", "flat")
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
OPTIONS = (
    click.option("--model", metavar="NAME_OR_PATH", help="A catalogue name or the path of a GGUF file."),
    click.option("--quick", is_flag=True, help="A tenth of the cases, at least ten."),
    click.option("--most", metavar="N", type=click.IntRange(1), help="At most so many cases of each group."),
    click.option("--side", "sides", multiple=True, help="Only this side; may be given again."),
    click.option("--json", "json_file", type=FILE, help="Write the report here."),
    click.option("--markdown", "markdown_file", type=FILE, help="Write its tables here."),
    click.option("--plot", "plot_file", type=FILE, help="Draw it: .png or .svg."),
    click.option(
        "--minutes",
        type=click.FloatRange(0, min_open=True),
        default=math.inf,
        help="Stop after so long; the same command goes on from there.",
    ),
    click.option("--journal", type=FOLDER, help="Where attempts are kept, to go on after a stop."),
)


def battery_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a battery, for a function that passes them on to `run_battery`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def fewer(cases: Sequence[T], quick: bool, most: int | None) -> list[T]:
    """Evenly spread ones: a tenth, at least ten, when it should be quick, and never more than `most`."""
    n = min(len(cases), max(10, len(cases) // 10) if quick else len(cases), most or len(cases))
    return [cases[i * len(cases) // n] for i in range(n)]


def in_turn(groups: Sequence[Sequence[T]]) -> list[T]:
    """The first of every group, then the second: a run that ends early has something of each."""
    longest = max(map(len, groups), default=0)
    return [group[i] for i in range(longest) for group in groups if i < len(group)]


def paths_of(sides: tuple[str, ...]) -> tuple[str, ...]:
    """The two paths, or those of them that were asked for. Raises `click.BadParameter` for another."""
    if unknown := [side for side in sides if side not in BOTH]:
        raise click.BadParameter(f"there is no side {unknown[0]!r}; there are {' and '.join(BOTH)}.")
    return sides or BOTH


def run_battery(
    battery: Cases,
    *,
    model: str | None,
    json_file: Path | None,
    markdown_file: Path | None,
    plot_file: Path | None,
    journal: Path | None,
    minutes: float,
    against: str | None = None,
    note: str = "",
    more: Callable[[Sequence[Tried]], str] = lambda attempts: "",
    run: Callable[..., Any] | None = None,
) -> Report:
    """Run it (`run`: otherwise than on one engine), show its tables, write its files."""
    import uvloop

    from muleteer import config
    from muleteer.engine import models
    from muleteer.evaluate.batteries import reporting, running, summary

    settings = config.load()
    files = reporting.Files(json_file, markdown_file, plot_file)
    files.check()
    path = models.resolve(model or settings.engine.model, settings.models)
    command = shlex.join(["muleteer", *sys.argv[1:]])
    began = time.monotonic()

    def say(sentence: str) -> None:
        click.echo(f"[{time.monotonic() - began:6.1f} s] {sentence}", err=True)

    folder = journal or settings.state / "evaluate"
    manner = running.Manner(settings.engine.threads, minutes)
    runner: Callable[..., Any] = run or running.run
    work = runner(battery, path, folder, command, say, introduce, manner)
    conditions, attempts = uvloop.run(work)
    if missing := len(battery.cases) * len(battery.sides) - len(attempts):
        note = f"{note} {missing} attempts were not made: the time was over before.".strip()
    note = "\n\n".join(part for part in (note, more(attempts)) if part)
    report = reporting.Report(battery.name, conditions, attempts, against or "flat", note)
    click.echo(summary.markdown(attempts, report.against, whole=len(battery.sides) < 6))
    if note:
        click.echo(note)
    report.save(files)
    for file in files.written():
        click.echo(f"Written: {file}")
    return report


def introduce(found: Conditions) -> None:
    """What runs on what, before the first case."""
    machine, model = found.machine, found.model
    click.echo(f"Command:  {found.command}")
    click.echo(f"Machine:  {machine['cpu']}, {machine['cores']} cores, load {machine['load']}")
    click.echo(f"Model:    {model.name}, {Path(model.path).name}, SHA-256 {found.model_digest}")
    click.echo(f"Engine:   {model.threads} threads, context {model.context}")
    click.echo("Versions: " + ", ".join(f"{name} {version}" for name, version in found.versions.items()))
    click.echo(f"Journal:  {found.journal}")
