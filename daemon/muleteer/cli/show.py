"""What several commands do: ask the daemon for one object, and print it as JSON or as a command likes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from muleteer.cli.render import print_table, safe

Fields = Mapping[str, object]


def show(socket: Path | None, path: str, as_json: bool, print_body: Callable[[Fields], None]) -> None:
    """`GET path`, printed whole as JSON or by `print_body`. Raises `SocketError` and `ReportedError`."""
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).get(path)
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
    else:
        print_body(body)


def print_menu(body: Fields, name: str) -> None:
    """The skills or tools of a listing; a disabled one says why instead of what it is for."""
    listed = body.get(name)
    rows = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    print_table(("handle", "state", "what for, or why not"), [_row(each) for each in rows])


def only_bare(context: click.Context, *options: object) -> bool:
    """Whether a group was called without a subcommand. Raises `click.UsageError` when it was given options
    that the subcommand would not get."""
    if context.invoked_subcommand is None:
        return True
    if any(options):
        raise click.UsageError(f"Put the options after {context.invoked_subcommand}, not before it.", context)
    return False


def _row(each: Fields) -> tuple[str, str, str]:
    state = _text(each, "state")
    about = _text(each, "reason") if state == "disabled" else _text(each, "description").partition("\n")[0]
    return "@" + (_text(each, "handle") or _text(each, "name")).removeprefix("@"), state, about


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return "" if value is None else str(value)
