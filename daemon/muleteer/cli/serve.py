"""`muleteer serve`: settings, log, and the daemon in the foreground."""

from __future__ import annotations

import faulthandler
from functools import partial
from pathlib import Path

import click

from muleteer.cli.options import config_option


@click.command()
@click.option("--state", type=click.Path(path_type=Path), metavar="DIR", help="Folder of what must last.")
@click.option("--socket", type=click.Path(path_type=Path), metavar="PATH", help="Unix socket to listen on.")
@click.option("--model", metavar="NAME_OR_PATH", help="A catalogue name or the path of a GGUF file.")
@config_option
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="What is logged.")
def serve(
    state: Path | None, socket: Path | None, model: str | None, file: Path | None, log_level: str | None
) -> None:
    """Run the daemon until SIGTERM, SIGINT or Ctrl-C. Needs no root.

    \b
    Example:
      muleteer serve --state /tmp/mule --socket /tmp/mule/socket --model small
    """
    from muleteer import config, daemon, log, paths

    options = {
        "state": state and paths.expand(state),
        "gateway.socket": socket and paths.expand(socket),
        "engine.model": model,
        "log.level": log_level,
    }
    settings = config.load(file, options)
    log.setup(settings.log.level)
    faulthandler.enable()  # a watchdog's SIGABRT, or a fault of native code, tells where each thread was
    daemon.run(settings, partial(config.load, file, options))
