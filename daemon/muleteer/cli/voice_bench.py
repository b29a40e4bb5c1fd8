"""`muleteer voice bench`: from the end of speech to the first sound, without a microphone."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muleteer.cli.options import socket_option

if TYPE_CHECKING:
    from muleteer.voice.bench.timing import Timed

BUSY = 0.5  # load average per core from which on the seconds are those of a shared machine
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--language", type=click.Choice(["en", "de"]), default="en", help="Of the commands.")
@click.option("--most", type=click.IntRange(1), default=8, metavar="N", help="At most so many commands.")
@click.option("--json", "json_file", type=FILE, help="Write the report here.")
@click.option("--plot", "plot_file", type=FILE, help="Draw it: .png or .svg.")
@socket_option
def bench(
    language: str, most: int, json_file: Path | None, plot_file: Path | None, socket: Path | None
) -> None:
    """Measure from the end of speech to the first sound, by part, with the daemon that runs.

    \b
    A synthetic voice says commands that only read. Each is said in two ways that take turns: as it is, and
    in a row, where nothing is warmed and nothing said before the answer is whole.
    Example:
      muleteer voice bench --json latency.json --plot latency.png
    """
    import uvloop

    from muleteer import config
    from muleteer.cli.client import Daemon, find_socket
    from muleteer.errors import ConfigError
    from muleteer.evaluate import plot
    from muleteer.voice.bench import picture, timing
    from muleteer.voice.bench.latency import TARGETS
    from muleteer.voice.bench.talkers import talkers

    if plot_file and not plot.installed():
        raise ConfigError("A plot needs matplotlib: run `pip install 'muleteer[bench]'`, or leave --plot.")
    settings = timing.spoken_in(config.load(), language)
    place = find_socket(socket)
    model = _model(Daemon(place).get("/v1/status"))
    talker = talkers(language)[-1]
    work = timing.timed(
        settings, place, talker, timing.chosen(language, most), lambda line: click.echo(line, err=True)
    )
    command = shlex.join(["muleteer", *sys.argv[1:]])
    found = timing.report(command, model, talker, settings, uvloop.run(work))
    _show(found)
    if json_file:
        json_file.write_text(
            json.dumps(found.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    if plot_file:
        picture.draw(found.laps, TARGETS.get(model), f"{model} on {found.machine['cpu']}", plot_file)
    for file in (json_file, plot_file):
        if file:
            click.echo(f"Written: {file}")


def _model(status: dict[str, object]) -> str:
    """Which one of the catalogue the daemon has, or the name it tells of itself."""
    from muleteer.engine import models

    engine = status.get("engine")
    properties = engine.get("properties") if isinstance(engine, dict) else None
    file = Path(str(properties.get("path", ""))) if isinstance(properties, dict) else Path()
    names = [name for name, model in models.load_catalogue().items() if model.file == file.name]
    return names[0] if names else file.stem


def _show(found: Timed) -> None:
    from muleteer.voice.bench.latency import PARTS, TARGETS, WAYS, medians, ratio

    machine = found.machine
    click.echo(f"Command:    {found.command}")
    click.echo(f"Machine:    {machine['cpu']}, {machine['cores']} cores, load {machine['load']}")
    click.echo(f"Model:      {found.model}; recogniser {found.recognizer}; said by {found.talker}")
    click.echo("Versions:   " + ", ".join(f"{name} {version}" for name, version in found.versions.items()))
    if found.busy > BUSY:
        click.echo("This machine is busy: of these seconds only their ratio says something.")
    columns = [medians(found.laps, way) for way in WAYS]
    click.echo(f"{'medians, s':<18}" + "".join(f"{way:>12}" for way in WAYS))
    for part in PARTS:
        click.echo(f"{part:<18}" + "".join(f"{parts[part]:12.2f}" for _, parts in columns))
    click.echo(f"{'first sound':<18}" + "".join(f"{whole:12.2f}" for whole, _ in columns))
    target = TARGETS.get(found.model)
    wanted = f"; the target is {target:g} s on two quiet cores" if target else ""
    click.echo(f"{len(found.laps)} laps; as it is / in a row: {ratio(found.laps):.2f}{wanted}")
