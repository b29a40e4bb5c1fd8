"""`muleteer confirm`: the answer to the question that a turn ended with."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from muleteer import exits
from muleteer.cli.ask import play, print_json
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import Activity
from muleteer.errors import MuleteerError


@click.command()
@click.argument("turn")
@click.option("--no", is_flag=True, help="Say no: the call is not made.")
@json_option
@socket_option
def confirm(turn: str, no: bool, as_json: bool, socket: Path | None) -> None:
    """Say yes to the call that TURN asked about, and print what came of it.

    A question is open for five minutes, can be answered once, and is lost when the daemon ends.

    \b
    Examples:
      muleteer confirm 4f0c2a9be1d35a77
      muleteer confirm --no 4f0c2a9be1d35a77
    """
    from muleteer.cli.client import Daemon, find_socket, finished

    try:
        events = Daemon(find_socket(socket)).confirm(turn, not no)
        done = finished(play(events, Activity(), show=not as_json)[1])
    except MuleteerError as error:
        if not as_json:
            raise
        print_json(error.as_dict())
        sys.exit(exits.code_of(error))
    if as_json:
        print_json(done.as_dict())
