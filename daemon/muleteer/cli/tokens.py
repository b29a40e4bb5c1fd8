"""`muleteer tokens`: which clients may use the device over the network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table, safe
from muleteer.cli.show import only_bare, show

scope_option = click.option(
    "--scope",
    "scopes",
    type=click.Choice(["chat", "tools", "admin"]),
    multiple=True,
    default=["chat"],
    show_default=True,
    help="What it may: talk; use tools by hand and read the memory; everything. Several may be given.",
)


@click.group(invoke_without_command=True)
@json_option
@socket_option
@click.pass_context
def tokens(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """List the tokens: what each may, when it was made and last used.

    \b
    Example:
      muleteer tokens
    """
    if only_bare(context, as_json, socket):
        show(socket, "/v1/tokens", as_json, _print)


@tokens.command()
@click.argument("name")
@scope_option
@json_option
@socket_option
def new(name: str, scopes: Sequence[str], as_json: bool, socket: Path | None) -> None:
    """Make a token for a client where no code can be typed. It is shown this once.

    \b
    Example:
      muleteer tokens new home-assistant
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).send("POST", "/v1/tokens", {"name": name, "scopes": list(scopes)})
    click.echo(safe(json.dumps(body, indent=2)) if as_json else safe(str(body.get("token"))))


@tokens.command()
@click.argument("name")
@json_option
@socket_option
def revoke(name: str, as_json: bool, socket: Path | None) -> None:
    """Let a token count no more, at once.

    \b
    Example:
      muleteer tokens revoke home-assistant
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).send("DELETE", f"/v1/tokens/{quote(name, safe='')}")
    click.echo(safe(json.dumps(body) if as_json else f"Revoked: {body.get('revoked')}."))


def _print(body: Mapping[str, object]) -> None:
    listed = body.get("tokens")
    rows = [_row(each) for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if rows:
        print_table(("name", "may", "made", "last used"), rows)
    else:
        click.echo("There are no tokens; `muleteer pair` lets a client in.")


def _row(token: Mapping[str, object]) -> tuple[str, ...]:
    scopes = token.get("scopes")
    may = ", ".join(map(str, scopes)) if isinstance(scopes, list) else ""
    return str(token.get("name")), may, _day(token.get("made")), _day(token.get("used")) or "never"


def _day(when: object) -> str:
    """A time as it is here, to the minute."""
    from datetime import datetime

    return f"{datetime.fromisoformat(when).astimezone():%Y-%m-%d %H:%M}" if isinstance(when, str) else ""
