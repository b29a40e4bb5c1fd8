"""`muleteer alarms`: the timers and alarms that are set on the device."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table, safe
from muleteer.when import say_delay

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@click.group(invoke_without_command=True)
@json_option
@socket_option
@click.pass_context
def alarms(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """List the timers and alarms that are set, and those that were missed.

    \b
    Example:
      muleteer alarms
    """
    if context.invoked_subcommand is not None:
        context.obj = socket
        return
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).get("/v1/timers")
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
        return
    rows = [_row(each) for each in _objects(body, "timers")]
    if rows:
        print_table(("id", "kind", "label", "rings", "in", "again"), rows)
    elif not body.get("unreadable"):
        click.echo("No timer or alarm is set.")
    for each in _objects(body, "missed"):
        click.echo(safe(f"Missed: {each.get('label') or 'one without a label'}, due {_when(each)}"))
    if damaged := body.get("unreadable"):
        click.echo(safe(f"Damaged, cannot be read: {damaged}. The daemon's log has their numbers."))


@alarms.command()
@click.argument("number", metavar="ID", type=click.IntRange(1, 2**63 - 1))
@json_option
@socket_option
@click.pass_context
def cancel(context: click.Context, number: int, as_json: bool, socket: Path | None) -> None:
    """Cancel one by its id.

    \b
    Example:
      muleteer alarms cancel 3
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket or context.obj)).send("DELETE", f"/v1/timers/{number}")
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
        return
    gone = body.get("cancelled")
    label = gone.get("label") if isinstance(gone, dict) else ""
    click.echo(safe(f"Cancelled {number}{f' ({label})' if label else ''}."))


def _objects(body: Mapping[str, object], name: str) -> list[dict[str, object]]:
    listed = body.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _row(each: Mapping[str, object]) -> tuple[str, ...]:
    left, repeat = each.get("left_s"), each.get("repeat")
    span = say_delay(timedelta(seconds=left)) if isinstance(left, int | float) else ""
    days = [WEEKDAYS[day] for day in repeat if day in range(7)] if isinstance(repeat, list) else []
    again = "every day" if len(days) == 7 else " ".join(days)
    return str(each.get("id")), str(each.get("kind")), str(each.get("label")), _when(each), span, again


def _when(each: Mapping[str, object]) -> str:
    try:
        return f"{datetime.fromisoformat(str(each.get('due'))):%a %d %b %H:%M}"
    except ValueError:
        return str(each.get("due"))
