"""What several commands do: ask the daemon for one object, and print it as JSON or as a command likes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from muleteer.cli.render import print_table, safe

FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s")
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
    """The skills or tools of a listing; a disabled one says why instead of what it is for. The columns of
    numbers are tokens: what the planner reads always, and what the follower and the agent read when it is
    used."""
    listed = body.get(name)
    rows = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    columns = ("handle", "state", "planner", "follower", "agent", "from", "what for, or why not")
    print_table(columns, [_row(each) for each in rows])
    notes = body.get("notes")
    for note in notes if isinstance(notes, list) else ():
        if isinstance(note, dict):
            click.echo(safe(_text(note, "text")))


def only_bare(context: click.Context, *options: object) -> bool:
    """Whether a group was called without a subcommand. Raises `click.UsageError` when it was given options
    that the subcommand would not get."""
    if context.invoked_subcommand is None:
        return True
    if any(options):
        raise click.UsageError(f"Put the options after {context.invoked_subcommand}, not before it.", context)
    return False


def _row(each: Fields) -> tuple[str, ...]:
    handle, on_disk = _text(each, "handle").removeprefix("@"), _text(each, "on_disk")
    tokens = each.get("tokens")
    costs = tokens if isinstance(tokens, dict) else {}
    about = _text(each, "reason") or FIRST_SENTENCE.split(_text(each, "description"), maxsplit=1)[0]
    return (
        f"@{handle}" if handle else _text(each, "name"),
        _text(each, "state"),
        *(_text(costs, level) if costs.get(level) else "" for level in ("planner", "follower", "agent")),
        _text(each, "origin").replace(os.path.expanduser("~/"), "~/", 1),
        f"(@{on_disk} there) {about}" if on_disk not in ("", handle) else about,
    )


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return "" if value is None else str(value)
