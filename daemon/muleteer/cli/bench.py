"""`muleteer bench`: measure this machine against llama.cpp's own server. Needs no daemon."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import click
import uvloop
from rich.console import Console
from rich.table import Table

from muleteer import config
from muleteer.evaluate import bench as benchmark
from muleteer.evaluate import report

BUSY = 0.5
"""Load average per core from which on the figures are those of a shared machine."""
COLUMNS = ("measure", "ours", "peer", "unit", "n", "target", "found", "wanted", "")


@click.command()
@click.option("--quick", is_flag=True, help="Fewer samples and shorter texts: within 15 minutes.")
@click.option("--model", metavar="NAME_OR_PATH", help="A catalogue name or the path of a GGUF file.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report here."
)
@click.option(
    "--plot", "plot_file", type=click.Path(path_type=Path, dir_okay=False), help="Draw it: .png or .svg."
)
@click.option("--only", default="", metavar="NAME,...", help=f"Of: {', '.join(report.NAMES)}.")
@click.option("--no-peer", is_flag=True, help="Measure Muleteer alone; needs nothing installed.")
def bench(
    quick: bool, model: str | None, json_file: Path | None, plot_file: Path | None, only: str, no_peer: bool
) -> None:
    """Measure decoding, prefixes, constrained calls, restarts and memory against llama.cpp's own server.

    \b
    Both run here in turn, with the same model file, threads, context and prompts. Stop the daemon first.
    Example:
      muleteer bench --quick --model small --json bench.json --plot bench.png
    """
    settings = config.load()
    options = benchmark.Options(
        model=model or settings.engine.model,
        folder=settings.models,
        command=shlex.join(["muleteer", *sys.argv[1:]]),
        quick=quick,
        with_peer=not no_peer,
        only=tuple(name for part in only.split(",") if (name := part.strip())),
        json_file=json_file,
        plot_file=plot_file,
    )
    began = time.monotonic()

    def say(sentence: str) -> None:
        click.echo(f"[{time.monotonic() - began:6.1f} s] {sentence}", err=True)

    found = uvloop.run(benchmark.bench(options, say, _introduce))
    _show(found)
    click.echo(f"Took {time.monotonic() - began:.0f} s.")
    for file in (json_file, plot_file):
        if file:
            click.echo(f"Written: {file}")


def _introduce(found: benchmark.Benchmark) -> None:
    """What runs on what, before the first measure."""
    machine, model = found.machine, found.model
    memory = f"{_gigabytes(machine['memory_available'])} of {_gigabytes(machine['memory'])} GB free"
    load = machine["load"]
    click.echo(f"Command:  {found.command}")
    click.echo(f"Machine:  {machine['cpu']}, {machine['cores']} cores, {memory}, load {load}")
    click.echo(f"Model:    {model.name}, {Path(model.path).name}, {model.size / 1e6:,.0f} MB")
    click.echo(f"Both:     {model.threads} threads, context {model.context}, vocabulary {model.vocabulary:,}")
    click.echo("Versions: " + ", ".join(f"{name} {version}" for name, version in found.versions.items()))
    for side, build in found.builds.items():
        click.echo(f"{side.capitalize() + ':':<9} {build}")
    amx = [side for side, build in found.builds.items() if "AMX" in build]
    click.echo(f"AMX:      {', '.join(amx) or 'compiled into neither'}")
    if found.busy > BUSY:
        click.echo("This machine is busy: the figures below are not those of a quiet one.")


def _show(found: benchmark.Benchmark) -> None:
    table = Table(*COLUMNS, box=None, header_style="bold")
    for row in report.rows(found.measures):
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)  # a file or a pipe gets whole lines
    console.print(table, markup=False, highlight=False)
    for measure in found.measures:
        if measure.note:
            click.echo(f"{measure.name}: {measure.note}")


def _gigabytes(size: object) -> str:
    return f"{float(str(size)) / 1e9:.1f}"
