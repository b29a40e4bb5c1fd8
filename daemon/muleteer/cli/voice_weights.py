"""`muleteer voice pull`: the recogniser's models. Needs no daemon and none of the packages of voice."""

from __future__ import annotations

import click
from rich.console import Console

from muleteer import config
from muleteer.cli.model import Meter
from muleteer.errors import ModelError


@click.command(epilog="Example: muleteer voice pull base")
@click.argument("name", default="")
def pull(name: str) -> None:
    """Fetch the recogniser's model NAME, or the one that the settings name, and check its digests."""
    from muleteer.voice.recognition import weights

    settings = config.load()
    try:
        chosen = weights.find(name or settings.voice.weights)
    except ModelError as error:
        raise click.UsageError(str(error)) from error
    folder = chosen.folder(settings.models)
    if chosen.is_in(folder):
        click.echo(f"Already here: {folder}")
        return
    with Meter(Console(stderr=True), chosen.name, chosen.size) as meter:
        folder = weights.pull(chosen, meter, settings.models)
    click.echo(f"Fetched and verified: {folder}")
