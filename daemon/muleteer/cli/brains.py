"""`muleteer brains`: which models may answer, and what became of asking them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table


@click.command()
@json_option
@socket_option
def brains(as_json: bool, socket: Path | None) -> None:
    """List the brain at home and those elsewhere: where each is, what it was asked, why it failed last.

    `muleteer ask --brain NAME` asks one; the setting brains.default names the usual one.

    \b
    Example:
      muleteer brains
    """
    from muleteer.cli.client import Daemon, find_socket

    status = Daemon(find_socket(socket)).get("/v1/status")
    report = status.get("brains")
    found: dict[str, Any] = report if isinstance(report, dict) else {}
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    usual = found.get("default")
    measured = found.get("local", {}).get("measured")
    path = "takes the path that was measured" if measured else "goes level by level; not measured"
    rows = [(_name("local", usual), "this device", path, "")]
    for name, server in found.get("servers", {}).items():
        asked = f"{server['requests']} asked, {server['retries']} again, {server['failures']} failed"
        model = f" ({server['model']})" if server["model"] else ""
        rows.append((_name(name, usual), f"{server['url']}{model}", asked, server["reason"]))
    print_table(("brain", "where", "so far", "trouble"), rows)


def _name(name: str, usual: object) -> str:
    return f"{name} *" if name == usual else name
