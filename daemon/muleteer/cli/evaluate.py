"""`muleteer evaluate`: batteries, run against a model in this process tree. Needs no daemon.

Each command imports what it runs when it runs, so that `--help` stays quick on a small board.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from muleteer.cli.batteries import FOLDER, battery_options, fewer, in_turn, paths_of, run_battery
from muleteer.cli.endpoint import endpoint
from muleteer.cli.routing import routing
from muleteer.cli.spoken import voice


@click.group()
def evaluate() -> None:
    """Measure whether the harness is worth it: batteries of cases, harness and flat loop side by side.

    \b
    A run that is stopped goes on where it was when the same command is given again.
    Example:
      muleteer evaluate crafting --quick --model small
    """


@evaluate.command()
@battery_options
def crafting(quick: bool, most: int | None, sides: tuple[str, ...], **how: Any) -> None:
    """Right arguments for the shipped tools, when it is known which tool is wanted.

    \b
    Example:
      muleteer evaluate crafting --quick --model small
    """
    from muleteer.evaluate.batteries import crafting as battery

    run_battery(battery.Crafting(fewer(battery.read(), quick, most), paths_of(sides)), **how)


@evaluate.command()
@battery_options
def judgement(quick: bool, most: int | None, sides: tuple[str, ...], **how: Any) -> None:
    """Whether a message wants any of the shipped tools: call, or only answer.

    \b
    Example:
      muleteer evaluate judgement --model small --markdown judgement.md
    """
    from muleteer.evaluate.batteries import judgement as battery

    run_battery(battery.Judgement(fewer(battery.read(), quick, most), paths_of(sides)), **how)


@evaluate.command()
@battery_options
def turns(quick: bool, most: int | None, sides: tuple[str, ...], **how: Any) -> None:
    """Whole turns with simulated tools: what is called, what is not, and what is said in the end.

    \b
    Example:
      muleteer evaluate turns --model standard --json turns.json
    """
    from muleteer.evaluate.batteries import turns as battery

    run_battery(battery.Turns(fewer(battery.read(), quick, most), paths_of(sides)), **how)


@evaluate.command()
@battery_options
def onetool(quick: bool, most: int | None, sides: tuple[str, ...], **how: Any) -> None:
    """Turns of one tool with 4 and 24 tools in reach: seconds and tokens, harness against flat, both warm.

    \b
    Example:
      muleteer evaluate onetool --model standard --json onetool.json
    """
    from muleteer.evaluate.batteries import onetool as battery

    cases = fewer(battery.read(), quick, most)
    run_battery(battery.OneTool(cases, paths_of(sides)), more=battery.ratios, **how)


@evaluate.command()
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=click.Choice(["multiple", "live_multiple", "simple_python", "live_simple", "irrelevance"]),
    help="Only this one; may be given again.",
)
@battery_options
def bfcl(
    categories: tuple[str, ...], quick: bool, most: int | None, sides: tuple[str, ...], **how: Any
) -> None:
    """Berkeley's function calling leaderboard: each case with its own functions, checked by its own checker.

    \b
    Its data come with `pip install --no-deps bfcl-eval`.
    Example:
      muleteer evaluate bfcl --category multiple --category irrelevance --most 100 --json bfcl.json
    """
    from muleteer.evaluate.batteries import bfcl as reader
    from muleteer.evaluate.batteries.calling import Calls
    from muleteer.evaluate.batteries.refusing import refusals

    wanted = categories or reader.CATEGORIES
    questions = in_turn([fewer(reader.read(each, reader.folder()), quick, most) for each in wanted])
    groups = [question.category for question in questions]
    battery = Calls("bfcl", questions, groups, paths_of(sides))
    run_battery(battery, more=partial(refusals, questions), **how)


@evaluate.command()
@click.option(
    "--tools", "sizes", multiple=True, type=click.IntRange(2, 2000), help="So many; may be given again."
)
@click.option(
    "--profile", type=click.Path(path_type=Path, dir_okay=False), help="Write here which path is better."
)
@battery_options
def load(
    sizes: tuple[int, ...],
    profile: Path | None,
    quick: bool,
    most: int | None,
    sides: tuple[str, ...],
    **how: Any,
) -> None:
    """BFCL's `multiple` with 4, 8, 24 and 80 functions in reach, constant prompts decoded on both sides.

    \b
    Example:
      muleteer evaluate load --tools 4 --tools 24 --most 40 --model standard --plot load.png
    """
    from muleteer.evaluate.batteries import bfcl as reader
    from muleteer.evaluate.batteries import profiles
    from muleteer.evaluate.batteries.calling import loaded

    questions = fewer(reader.read("multiple", reader.folder()), quick, most)
    report = run_battery(loaded(questions, sizes or (4, 8, 24, 80), paths_of(sides)), **how)
    if profile:
        profiles.write(report, profile)
        click.echo(f"Written: {profile}")


@evaluate.command()
@click.option(
    "--tools", "sizes", multiple=True, type=click.IntRange(2, 2000), help="So many; may be given again."
)
@click.option("--model", metavar="NAME_OR_PATH", help="Whose tokens are counted.")
@click.option("--most", metavar="N", type=click.IntRange(1), default=50, help="So many messages.")
def growth(sizes: tuple[int, ...], model: str | None, most: int) -> None:
    """Count, without decoding, what one call costs with 8 to 800 tools in reach.

    \b
    Example:
      muleteer evaluate growth --tools 8 --tools 80 --tools 800
    """
    import asyncio

    from muleteer import config
    from muleteer.engine import models
    from muleteer.evaluate.batteries import bfcl as reader
    from muleteer.evaluate.batteries import growth as growing
    from muleteer.evaluate.batteries.calling import every_tool, pooled
    from muleteer.evaluate.rig import Tokens

    settings = config.load()
    path = models.resolve(model or settings.engine.model, settings.models)
    others = every_tool(("multiple", "live_multiple"))
    questions = fewer(reader.read("multiple", reader.folder()), False, most)
    with Tokens(path) as tokens:
        rows = []
        for size in sizes or (8, 24, 80, 800):
            found = asyncio.run(growing.growth(tokens, *pooled(questions, size, others), size))
            rows.append(found)
            click.echo(f"{size} tools are counted", err=True)
    click.echo(growing.markdown(rows))


@evaluate.command()
@click.argument("variants", type=FOLDER, required=False)
@click.option(
    "--battery",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Lines of message, tab, handle; the shipped ones without it.",
)
@click.option(
    "--half",
    type=click.Choice(["development", "report", "all"]),
    default="development",
    help="Choose on one half of the battery; the other half stays unseen for the report.",
)
@click.option("--bare", is_flag=True, help="Without example exchanges: what the guidance alone is worth.")
@battery_options
def sweep(
    variants: Path | None,
    file: Path | None,
    half: str,
    bare: bool,
    quick: bool,
    most: int | None,
    sides: tuple[str, ...],
    **how: Any,
) -> None:
    """Compare variants of the planner's guidance: a folder of .txt files, each with $menu in it.

    \b
    Without a folder: the variants that the shipped guidance was chosen from.
    Example:
      muleteer evaluate sweep my_variants --bare --most 60 --model small --plot sweep.png
    """
    from muleteer.evaluate.batteries import sweep as sweeping

    lines = sweeping.read_routing(file, half)
    texts = sweeping.read_variants(variants or sweeping.shipped_variants())
    battery = sweeping.Sweep(texts, fewer(lines, quick, most), bare)
    battery.only(sides)
    where = file.name if file else "the shipped routing battery"
    note = f"The {half} half of {where}: {len(battery.cases)} messages."
    run_battery(battery, against=sweeping.IN_FORCE, note=note, more=sweeping.ranking, **how)


evaluate.add_command(routing)
evaluate.add_command(endpoint)
evaluate.add_command(voice)
