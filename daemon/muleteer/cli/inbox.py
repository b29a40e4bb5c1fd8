"""`muleteer inbox`: what background turns came to."""

from __future__ import annotations

import json
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also what was read.")
@click.option("--keep", is_flag=True, help="Leave what is shown unread.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="Most entries.")
@json_option
@socket_option
def inbox(everything: bool, keep: bool, limit: int, as_json: bool, socket: Path | None) -> None:
    """Show what background turns came to, the newest last, and count it as read.

    \b
    Example:
      muleteer inbox
    """
    from muleteer.cli.client import Daemon, find_socket

    daemon = Daemon(find_socket(socket))
    query = "" if everything else "&unread=true"
    body = daemon.get(f"/v1/inbox?limit={limit}{query}")
    listed = body.get("entries")
    entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
    elif not entries:
        click.echo("Nothing is in the inbox." if everything else "Nothing new is in the inbox.")
    else:
        for each in reversed(entries):
            failed = "" if each.get("done") else "  (failed)"
            click.echo(safe(f"{each.get('when')}  @{each.get('skill')}{failed}"))
            click.echo(safe(f"  {str(each.get('text', '')).strip()}".replace("\n", "\n  ")))
    unread = [str(each.get("id")) for each in entries if not each.get("read")]
    if unread and not keep:
        daemon.send("POST", "/v1/inbox/read", {"ids": unread})
