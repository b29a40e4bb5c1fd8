"""`muleteer offline`: the switch that keeps every tool from the network."""

from __future__ import annotations

import json
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe


@click.command()
@click.argument("mode", type=click.Choice(["on", "off", "auto", "status"]), default="status")
@json_option
@socket_option
def offline(mode: str, as_json: bool, socket: Path | None) -> None:
    """Keep every tool from the network (on), allow it (off), or allow it while there is a route (auto).

    It stays as it was set, also after a restart of the daemon; until then the setting tools.offline counts.

    \b
    Example:
      muleteer offline on
    """
    from muleteer.cli.client import Daemon, find_socket

    daemon = Daemon(find_socket(socket))
    if mode == "status":
        report = daemon.get("/v1/offline")
    else:
        report = daemon.send("PUT", "/v1/offline", {"mode": mode})
    click.echo(json.dumps(report) if as_json else safe(in_words(report)))


def in_words(report: dict[str, object]) -> str:
    """What the daemon reports, as one line: what is so now, and what was chosen."""
    reason = str(report.get("reason", ""))
    said = f"Tools may not use the network: {reason[:1].lower()}{reason[1:]}"
    now = said if report.get("offline") else "Tools may use the network"
    return f"{now} (mode {report.get('mode', 'unknown')})."
