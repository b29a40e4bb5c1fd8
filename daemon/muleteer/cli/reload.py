"""`muleteer reload`: new settings, skills and tools, with the model left where it is."""

from __future__ import annotations

import json
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe

SECONDS = 80.0  # new prompts are measured by the engine; systemd gives up after 90


@click.command()
@json_option
@socket_option
def reload(as_json: bool, socket: Path | None) -> None:
    """Take up what has changed in the settings, skills and tools. What wants a restart is named.

    \b
    Example:
      muleteer reload
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).send("POST", "/v1/reload", {}, SECONDS)
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
        return
    for name, words in (("applied", "Applied"), ("restart", "Changed, but only a restart takes it up")):
        keys = body.get(name)
        if isinstance(keys, list) and keys:
            click.echo(safe(f"{words}: {', '.join(map(str, keys))}."))
    click.echo(safe(f"Skills and tools are up to date: {body.get('handles')} handles."))
