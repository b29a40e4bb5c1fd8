"""`muleteer seat`: who drives the household, and who belongs to it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_pairs, print_table, safe

Fields = Mapping[str, object]
JOIN_SECONDS = 60.0  # the other device is looked for for eight, and answers in a few


@click.group(invoke_without_command=True)
@json_option
@socket_option
@click.pass_context
def seat(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """Show who drives the household's background work, since when and why, and the other devices.

    \b
    Example:
      muleteer seat
    """
    if context.invoked_subcommand is not None:
        context.obj = socket
        return
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).get("/v1/seat")
    if as_json:
        _print(body)
        return
    driver = body.get("driver")
    named = str(driver.get("name")) if isinstance(driver, dict) else "nobody is known to"
    print_pairs(
        [
            ("drives", "this device" if body.get("drives") else named),
            ("role here", f"{body.get('role')}, {_ago(body.get('since_s'))}"),
            ("term", str(body.get("term"))),
            ("why", str(body.get("reason"))),
            ("mDNS", str(body.get("mdns")) or "announced"),
            *(("trouble", each) for each in _texts(body, "doubled")),
        ]
    )
    if rows := [_peer_row(each) for each in _objects(body, "peers")]:
        print_table(("device", "id", "connection", "last contact"), rows)


@seat.command()
@json_option
@socket_option
@click.pass_context
def take(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """Let this device drive.

    \b
    Example:
      muleteer seat take
    """
    _moved(context, socket, as_json, "/v1/seat/take", "The seat was asked for: ")


@seat.command(name="yield")
@json_option
@socket_option
@click.pass_context
def give(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """Let another device drive, if one answers.

    \b
    Example:
      muleteer seat yield
    """
    _moved(context, socket, as_json, "/v1/seat/yield", "The seat was given away: ")


@seat.command()
@socket_option
@click.pass_context
def watch(context: click.Context, socket: Path | None) -> None:
    """Print a line whenever the role of this device changes, until Ctrl-C.

    \b
    Example:
      muleteer seat watch
    """
    from muleteer.cli.client import Daemon, find_socket

    daemon = Daemon(find_socket(socket or context.obj))
    click.echo(safe(str(daemon.get("/v1/seat").get("reason"))))
    for name, data in daemon.events():
        if name == "seat.changed":
            click.echo(safe(str(data.get("reason"))))


@seat.command()
@click.argument("code", required=False)
@click.option("--address", default="", metavar="HOST[:PORT]", help="Where the other device is, without mDNS.")
@json_option
@socket_option
@click.pass_context
def join(context: click.Context, code: str | None, address: str, as_json: bool, socket: Path | None) -> None:
    """Make two devices one household. Without CODE, on one of them: show a code. With it, on the other: join.

    \b
    Example:
      muleteer seat join
      muleteer seat join 3f7a-482913
    """
    from muleteer.cli.client import Daemon, find_socket

    daemon = Daemon(find_socket(socket or context.obj))
    if code is None:
        body = daemon.send("POST", "/v1/seat/invite")
        minutes = math.ceil(_number(body, "seconds") / 60)
        said = f"On the other device, within {minutes} minutes: muleteer seat join {body.get('code')}"
    else:
        body = daemon.send("POST", "/v1/seat/join", {"code": code, "address": address}, JOIN_SECONDS)
        reason = str(body.get("reason"))
        said = f"Joined. {reason[:1].upper()}{reason[1:]}"
    _print(body) if as_json else click.echo(safe(said))


@seat.command()
@json_option
@socket_option
@click.pass_context
def members(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """List the devices of the household.

    \b
    Example:
      muleteer seat members
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket or context.obj)).get("/v1/seat/members")
    if as_json:
        _print(body)
    elif rows := [_member_row(each) for each in _objects(body, "members")]:
        print_table(("device", "id", ""), rows)
    else:
        click.echo("This device belongs to no household; `muleteer seat join` makes one.")


@seat.command()
@click.argument("device")
@json_option
@socket_option
@click.pass_context
def forget(context: click.Context, device: str, as_json: bool, socket: Path | None) -> None:
    """Take a device out of the household, by its id (the beginning is enough) or its name.

    Its own id makes this device leave.

    \b
    Example:
      muleteer seat forget 3f7a
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket or context.obj)).send("POST", "/v1/seat/forget", {"device": device})
    _print(body) if as_json else click.echo(safe(f"Forgotten: {body.get('forgotten')}."))


def _moved(context: click.Context, socket: Path | None, as_json: bool, path: str, said: str) -> None:
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket or context.obj)).send("POST", path)
    _print(body) if as_json else click.echo(safe(f"{said}{body.get('reason')}"))


def _peer_row(each: Fields) -> tuple[str, ...]:
    connected = "connected" if each.get("connected") else "none"
    if each.get("doubled"):
        connected = "refused: two devices have this id"
    if not each.get("enrolled"):
        connected += ", not enrolled yet"
    heard = each.get("last_contact_s")
    contact = f"{heard:.1f} s ago" if isinstance(heard, int | float) else ""
    return str(each.get("name")), str(each.get("id"))[:8], connected, contact


def _member_row(each: Fields) -> tuple[str, ...]:
    where = "this device" if each.get("here") else "connected" if each.get("connected") else "not connected"
    return str(each.get("name")), str(each.get("id"))[:8], where


def _ago(seconds: object) -> str:
    if not isinstance(seconds, int | float):
        return "for an unknown time"
    return f"for {timedelta(seconds=round(seconds))}"


def _objects(body: Fields, name: str) -> list[dict[str, object]]:
    listed = body.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _texts(body: Fields, name: str) -> list[str]:
    listed = body.get(name)
    return [str(each) for each in listed] if isinstance(listed, list) else []


def _number(body: Fields, name: str) -> float:
    value = body.get(name)
    return value if isinstance(value, int | float) else 0


def _print(body: Fields) -> None:
    click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
