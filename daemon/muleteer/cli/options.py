"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

socket_option = click.option(
    "--socket",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The daemon's Unix socket. Else MULETEER_SOCKET, then the settings, then the usual place.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
session_option = click.option(
    "--session",
    "name",
    default="",
    metavar="NAME",
    help="Go on with the conversation of this name, or begin it. `muleteer sessions` lists them.",
)
brain_option = click.option(
    "--brain",
    default="",
    metavar="NAME",
    help="The brain that shall answer: local, or a server of [brains.servers] in the settings.",
)
config_option = click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read this settings file alone, instead of the usual ones (also MULETEER_CONFIG).",
)
