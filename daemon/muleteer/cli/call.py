"""`muleteer tools call`: one tool by hand, through the daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from muleteer import exits
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe

WAIT_SECONDS = 3600.0  # the tool has a limit of its own, and the daemon keeps it
EXIT_CODES = {"ok": exits.OK, "error": exits.TURN_FAILED, "empty": 5, "unavailable": 6}


@click.command()
@click.argument("name")
@click.argument("arguments", default="{}", metavar="[JSON]")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before a tool that writes or acts on a device.")
@json_option
@socket_option
def call(name: str, arguments: str, yes: bool, as_json: bool, socket: Path | None) -> None:
    """Call one tool with the arguments JSON, an object, and print what it returned.

    \b
    Examples:
      muleteer tools call current_time '{"place": "Istanbul"}'
      muleteer tools call calculator '{"expression": "3 miles in km"}' --json

    \b
    Exit codes: 0 ok, 1 error, 5 empty (looked, nothing there), 6 unavailable (could not look).
    """
    from muleteer.cli.client import Daemon, find_socket

    given = _object(arguments)
    daemon = Daemon(find_socket(socket))
    name = name.removeprefix("@").replace("-", "_")
    effect = _effect(daemon.get("/v1/tools"), name)
    if effect != "read" and not yes:
        shown = json.dumps(given, ensure_ascii=False)
        consequence = "acts on a real device" if effect == "physical" else "changes what is stored"
        click.confirm(safe(f"{name} {consequence}. Call it with {shown}?"), abort=True, err=True)
    path = f"/v1/tools/{quote(name, safe='')}/call"
    request: dict[str, object] = {"arguments": given, "confirm": effect != "read"}
    outcome = daemon.send("POST", path, request, WAIT_SECONDS)
    if as_json:
        click.echo(safe(json.dumps(outcome, ensure_ascii=False, indent=2)))
    else:
        _print(outcome)
    sys.exit(EXIT_CODES.get(str(outcome.get("status")), exits.TURN_FAILED))


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"it is not JSON ({error}).", param_hint="JSON") from error
    if not isinstance(value, dict):
        raise click.BadParameter('it must be an object, such as {"place": "Istanbul"}.', param_hint="JSON")
    return value


def _effect(listing: Mapping[str, object], name: str) -> str:
    """The tool's effect; of one that is not there, that of calling nothing."""
    listed = listing.get("tools")
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and each.get("name") == name:
            return str(each.get("effect", "read"))
    return "read"


def _print(outcome: Mapping[str, object]) -> None:
    """Status and sentence, then the payload as it is, then where it came from."""
    click.echo(safe(f"{outcome.get('status')} ({outcome.get('ms')} ms): {outcome.get('text')}"))
    payload = outcome.get("payload")
    if isinstance(payload, dict):
        match payload.get("kind"):
            case "notes":
                click.echo(safe("\n".join(f"- {item}" for item in payload.get("items", ()))))
            case "document":
                click.echo(safe(f"{payload.get('name')}:\n{payload.get('text')}"))
            case _:
                click.echo(safe(json.dumps(payload.get("values"), ensure_ascii=False, indent=2)))
    sources = outcome.get("sources")
    if isinstance(sources, list) and sources:
        click.echo(safe(f"from: {', '.join(map(str, sources))}"))
