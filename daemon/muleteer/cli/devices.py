"""`muleteer devices`: what is announced on the network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table, safe

HEAD = ("device", "id", "role", "address", "clients", "household")
MDNS_IS_OFF = "Nothing can be seen of the network: mDNS does not work here, {}."


@click.command()
@json_option
@socket_option
def devices(as_json: bool, socket: Path | None) -> None:
    """List the devices that are announced on the network: where programs can connect to them, and whether
    they belong to this one's household. Anybody can announce anything.

    \b
    Example:
      muleteer devices
    """
    from muleteer.cli.client import Daemon, find_socket

    body = Daemon(find_socket(socket)).get("/v1/devices")
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
        return
    listed, problem = body.get("devices"), str(body.get("mdns") or "")
    found = listed if isinstance(listed, list) else []
    if rows := [_row(each) for each in found if isinstance(each, dict)]:
        print_table(HEAD, rows)
    elif problem:
        click.echo(safe(MDNS_IS_OFF.format(problem)))
    else:
        click.echo("No other device is announced on this network.")


def _row(each: Mapping[str, object]) -> tuple[str, ...]:
    addresses = each.get("addresses")
    first = str(addresses[0]) if isinstance(addresses, list) and addresses else ""
    clients, household = each.get("clients_port"), each.get("household_port")
    ours = "ours" if each.get("member") else "not ours"
    name, short = str(each.get("name")), str(each.get("id"))[:8]
    return (
        "-" if name == short else name,  # a stranger, whom the id alone tells from others
        short,
        str(each.get("role")),
        first,
        f"port {clients}" if clients else "no clients",
        f"{ours}, port {household}" if household else ours,
    )
