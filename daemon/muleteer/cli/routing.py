"""`muleteer evaluate routing`: does the planner choose the right handle, or rightly none?"""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muleteer.cli.batteries import FILE, FOLDER

if TYPE_CHECKING:
    from muleteer.evaluate.routing.cases import BatteryFile
    from muleteer.skills import Catalogue


@click.command()
@click.argument("file", type=FILE, required=False)
@click.option(
    "--model",
    "names",
    multiple=True,
    metavar="NAME_OR_PATH",
    help="A model; may be given again, side by side.",
)
@click.option(
    "--half",
    type=click.Choice(["development", "report", "all"]),
    default="all",
    help="Which half of the battery, by the messages' digests: choose by one, report the other.",
)
@click.option(
    "--menu",
    "menus",
    multiple=True,
    default=("shipped",),
    metavar="MENU",
    help="shipped, +5 (so many of a stranger's tools more) or 8 (so many lines in all); may be given again.",
)
@click.option("--quick", is_flag=True, help="A tenth of the messages, at least ten.")
@click.option("--json", "json_file", type=FILE, help="Write the report here.")
@click.option("--markdown", "markdown_file", type=FILE, help="Write its tables here.")
@click.option("--plot", "plot_file", type=FILE, help="Draw it: .png or .svg.")
@click.option("--journal", type=FOLDER, help="Where attempts are kept, to go on after a stop.")
def routing(
    file: Path | None,
    names: Sequence[str],
    half: str,
    menus: Sequence[str],
    quick: bool,
    json_file: Path | None,
    markdown_file: Path | None,
    plot_file: Path | None,
    journal: Path | None,
) -> None:
    """Ask the planner about every line `message<TAB>handle` of FILE, and count what it chooses.

    The handle `reply` means none. Without FILE the shipped battery is asked. Bad lines are named with their
    numbers and left out. What is installed by the user is not on the menu, so that figures can be compared.

    \b
    Examples:
      muleteer evaluate routing --model small --quick
      muleteer evaluate routing mine.tsv --model standard --model small --json routing.json --plot routing.png
      muleteer evaluate routing --menu 2 --menu 4 --menu 8 --menu 16 --menu 24
    """
    import uvloop

    from muleteer import config
    from muleteer.cli.batteries import fewer, introduce
    from muleteer.engine import models
    from muleteer.evaluate.batteries import reporting, running
    from muleteer.evaluate.routing import cases
    from muleteer.evaluate.routing.battery import Routing
    from muleteer.evaluate.routing.report import Ran, Report

    settings = config.load()
    files = reporting.Files(json_file, markdown_file, plot_file)
    files.check()
    began = time.monotonic()

    def say(sentence: str) -> None:
        click.echo(f"[{time.monotonic() - began:6.1f} s] {sentence}", err=True)

    paths = [models.resolve(name, settings.models) for name in names or [settings.engine.model]]
    with tempfile.TemporaryDirectory() as scratch:
        catalogue = _catalogue(Path(scratch))
        battery = cases.read_battery(file or cases.shipped(), catalogue.handles)
        _tell_bad(battery)
        lines = [line for line in battery.lines if half in ("all", line.half)]
        runs = []
        for path in paths:
            asked = Routing(fewer(lines, quick, None), catalogue, settings.budgets, menus)
            command = shlex.join(["muleteer", *sys.argv[1:]])
            folder = journal or settings.state / "evaluate"
            manner = running.Manner(settings.engine.threads)
            runs.append(Ran(*uvloop.run(running.run(asked, path, folder, command, say, introduce, manner))))
    report = Report(battery, half, runs)
    click.echo(report.markdown())
    report.save(files)
    for written in files.written():
        click.echo(f"Written: {written}")


def _catalogue(scratch: Path) -> Catalogue:
    """What is shipped, and nothing that this user has added."""
    from muleteer.evaluate.material import Material

    return Material.shipped(scratch).catalogue


def _tell_bad(battery: BatteryFile) -> None:
    for bad in battery.bad:
        click.echo(f"{battery.path.name}: {bad} It is left out.", err=True)
