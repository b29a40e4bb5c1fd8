"""`muleteer sessions`: the conversations that have a name."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table, safe
from muleteer.cli.show import Fields, only_bare, show


@click.group(invoke_without_command=True)
@json_option
@socket_option
@click.pass_context
def sessions(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """Conversations by name: how many turns are kept of each, and when the last one was.

    They are kept as long as turns are (memory.keep_days), and survive a restart.

    \b
    Examples:
      muleteer sessions
      muleteer ask --session trip "What time is it in Rome?"
    """
    if only_bare(context, as_json, socket):
        show(socket, "/v1/sessions", as_json, _print)


@sessions.command()
@click.argument("name")
@json_option
@socket_option
def forget(name: str, as_json: bool, socket: Path | None) -> None:
    """Delete all that was said in a session for good.

    \b
    Example:
      muleteer sessions forget trip
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).send("DELETE", f"/v1/sessions/{quote(name, safe='')}")
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False)))
    else:
        click.echo(safe(f"Forgotten: {body.get('turns')} turns of {name}."))


def _print(body: Fields) -> None:
    listed = body.get("sessions")
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if not body.get("kept"):
        click.echo("What is said is not kept; the setting memory.keep_days is 0.", err=True)
    elif not found:
        click.echo("No conversation has a name yet; `muleteer ask --session NAME` begins one.", err=True)
    else:
        rows = [(str(e["name"]), str(e["turns"]), _when(str(e["last"])), str(e["said"])) for e in found]
        print_table(("name", "turns", "last", "said last"), rows)


def _when(stamp: str) -> str:
    try:
        return f"{datetime.fromisoformat(stamp).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return stamp
