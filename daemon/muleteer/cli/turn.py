"""`muleteer turn`: a background turn, as a timer asks for it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from muleteer import exits
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import Activity, safe

# Seconds: the longest wait that the settings allow (12 h), the turn before it, its own, and some more.
LONGEST = 50_000.0
NO_TURN = "connection_lost"
BY_HAND = "by hand"  # how the slot of a turn begins that no schedule has asked for


@click.command()
@click.argument("skill")
@click.option("--now", is_flag=True, help="Whatever its schedule says, once more.")
@json_option
@socket_option
def turn(skill: str, now: bool, as_json: bool, socket: Path | None) -> None:
    """Run SKILL for the slot of its schedule that is due, unless that was done already.

    The daemon decides whether it may run: it asks the driver's seat, and waits while the device is hot, on
    battery, or somebody talks. The result is in the inbox.

    \b
    Example:
      muleteer turn daily-brief
    """
    from muleteer.cli.client import Daemon, find_socket
    from muleteer.cli.reported import ReportedError

    request: dict[str, object] = {"skill": skill.removeprefix("@"), "now": now}
    try:
        with Activity().during(f"Running {skill}, as soon as the device and the household let it"):
            ended = Daemon(find_socket(socket)).send("POST", "/v1/background", request, LONGEST)
    except ReportedError as error:
        if error.reported != NO_TURN:
            raise
        click.echo(f"Error: {safe(str(error))}", err=True)
        raise click.exceptions.Exit(exits.ENGINE_UNAVAILABLE) from None  # worth another try, for a timer
    state, reason = str(ended.get("state")), str(ended.get("reason") or "")
    if as_json:
        click.echo(safe(json.dumps(ended, ensure_ascii=False, indent=2)))
    else:
        line = f"{ended.get('skill')} {_when(str(ended.get('slot')))}: {state}"
        click.echo(safe(f"{line}. {reason}" if reason else f"{line}."))
        if ended.get("text"):
            click.echo(safe(str(ended["text"])))
    if state == "failed":
        raise click.exceptions.Exit(exits.TURN_FAILED)


def _when(slot: str) -> str:
    """Which turn it was: that of a time of its schedule, or one more."""
    return "was run by hand" if slot.startswith(BY_HAND) else f"at {slot}"
