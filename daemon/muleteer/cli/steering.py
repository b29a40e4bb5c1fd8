"""`enable`, `disable` and `rename`, the same for skills and tools."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe
from muleteer.cli.reported import ReportedError

WAIT_SECONDS = 300.0  # the new menu is measured by the engine, which serves the turns before it first
EXAMPLES = {"skills": ("daily-brief", "morning-news"), "tools": ("timer", "egg-timer")}


def add_steering(group: click.Group, kind: str) -> None:
    """Add the three commands to `muleteer skills` or `muleteer tools`."""
    thing = kind.removesuffix("s")
    example, other = EXAMPLES[kind]
    handle = click.argument("handle", metavar="HANDLE")

    @group.command(epilog=f"Example: muleteer {kind} enable {example}")
    @handle
    @json_option
    @socket_option
    def enable(handle: str, as_json: bool, socket: Path | None) -> None:
        entry = _steer(socket, kind, handle, {"enabled": True}, as_json)
        if entry.get("state") != "enabled":
            raise ReportedError("skill", f"@{entry.get('handle')} cannot be used: {entry.get('reason')}")

    @group.command(epilog=f"Example: muleteer {kind} disable {example}")
    @handle
    @json_option
    @socket_option
    def disable(handle: str, as_json: bool, socket: Path | None) -> None:
        _steer(socket, kind, handle, {"enabled": False}, as_json)

    @group.command(epilog=f"Example: muleteer {kind} rename {example} {other}")
    @handle
    @click.argument("name", metavar="NAME")
    @json_option
    @socket_option
    def rename(handle: str, name: str, as_json: bool, socket: Path | None) -> None:
        _steer(socket, kind, handle, {"name": name}, as_json)

    enable.help = f"Turn a {thing} on again that was turned off."
    disable.help = f"Turn a {thing} off, also for what mentions it, until it is enabled again."
    rename.help = (
        f"Give a {thing} another name. What mentions it follows, and its file stays as it is; its own name "
        "ends the renaming."
    )


def _steer(
    socket: Path | None, kind: str, handle: str, wish: dict[str, object], as_json: bool
) -> dict[str, object]:
    """Send the wish and print what became of it; the thing as it is listed now."""
    from muleteer.cli.client import Daemon, find_socket

    path = f"/v1/{kind}/{quote(handle.removeprefix('@'), safe='')}"
    entry = Daemon(find_socket(socket)).send("POST", path, wish, WAIT_SECONDS)
    if as_json:
        click.echo(safe(json.dumps(entry, ensure_ascii=False, indent=2)))
    else:
        was = entry.get("on_disk")
        name = f" (@{was} on disk)" if was != entry.get("handle") else ""
        click.echo(safe(f"@{entry.get('handle')}{name} is {entry.get('state')}."))
    return entry
