"""`muleteer evaluate`: batteries, run against a model in this process tree. Needs no daemon.

Each command imports what it runs when it runs, so that `--help` stays quick on a small board.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from muleteer.cli.batteries import FOLDER, battery_options, fewer, run_battery
from muleteer.cli.routing import routing


@click.group()
def evaluate() -> None:
    """Measure whether the harness is worth it: batteries of cases, harness and flat loop side by side.

    \b
    A run that is stopped goes on where it was when the same command is given again.
    Example:
      muleteer evaluate crafting --quick --model small
    """


@evaluate.command()
@click.argument("variants", type=FOLDER, required=False)
@click.option(
    "--battery",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Lines of message, tab, handle.",
)
@click.option(
    "--half",
    type=click.Choice(["development", "report", "all"]),
    default="development",
    help="Choose on one half of the battery; the other half stays unseen for the report.",
)
@battery_options
def sweep(
    variants: Path | None,
    file: Path,
    half: str,
    quick: bool,
    most: int | None,
    sides: tuple[str, ...],
    **how: Any,
) -> None:
    """Compare variants of the planner's guidance: a folder of .txt files, each with $menu in it.

    \b
    Without a folder: the variants that the shipped guidance was chosen from.
    Example:
      muleteer evaluate sweep my_variants --battery routing.tsv --model small --plot sweep.png
    """
    from muleteer.evaluate.batteries import sweep as sweeping

    lines = sweeping.read_routing(file, half)
    texts = sweeping.read_variants(variants or sweeping.shipped_variants())
    battery = sweeping.Sweep(texts, fewer(lines, quick, most))
    battery.only(sides)
    note = f"The {half} half of {file.name}: {len(battery.cases)} messages."
    run_battery(battery, against=sweeping.IN_FORCE, note=note, **how)


evaluate.add_command(routing)
