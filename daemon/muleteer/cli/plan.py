"""`muleteer plan`: what the planner would do with a message, and why. Nothing is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table, safe

LEAST = 0.005  # share of a candidate that a table still shows
WAIT_SECONDS = 600.0  # a full queue of turns goes first
WAYS = {
    "reply": "the model replies, no tool is called",
    "tool": "one tool, called at once",
    "steps": "the skill's steps, carried out by code",
    "follower": "the model follows the skill's steps",
}


@click.command()
@click.argument("text")
@json_option
@socket_option
def plan(text: str, as_json: bool, socket: Path | None) -> None:
    """Show what would be chosen for TEXT, and what speaks for each handle, without running anything.

    A share is what decides: made of the model's, that of a second look where the first was unsure, and of how
    like TEXT is to the examples of the handle. The place is that on the shortlist of words.

    \b
    Example:
      muleteer plan "Is the kitchen light on?"
    """
    from muleteer.cli.client import Daemon, find_socket

    found = Daemon(find_socket(socket)).send("POST", "/v1/plan", {"message": text}, WAIT_SECONDS)
    if as_json:
        click.echo(safe(json.dumps(found, ensure_ascii=False, indent=2)))
    else:
        print_plan(found)


def print_plan(found: Mapping[str, object]) -> None:
    """The plan in words, and a table of its candidates."""
    handles = _texts(found, "handles")
    confidence = float(str(found.get("confidence", 0)))
    tools = ", ".join(_texts(found, "toolset"))
    parts = _objects(found, "parts")
    for part in parts:
        names = ", ".join(_texts(part, "handles")) or "nothing that can be done here"
        click.echo(
            safe(f"Part:    {part.get('said')}: {names} ({float(str(part.get('confidence'))):.0%} sure)")
        )
    if parts:
        click.echo("The message is cut into these parts. As a whole it would be:")
    click.echo(safe(f"Plan:    {', '.join(handles) or '@reply'} ({confidence:.0%} sure)"))
    click.echo(safe(f"Way:     {WAYS.get(str(found.get('way')), str(found.get('way')))}"))
    if tools:
        click.echo(safe(f"Tools:   {tools}"))
    levels = _objects(found, "levels")
    decoded, reused, ms = (
        sum(float(str(level.get(name, 0))) for level in levels) for name in ("decoded", "reused", "ms")
    )
    click.echo(f"Cost:    {decoded:.0f} tokens decoded, {reused:.0f} reused, {ms / 1000:.2f} s")
    click.echo(
        f"Menu:    {found.get('shown')} lines and {found.get('exchanges')} examples are always shown,"
        f" {found.get('menu_tokens')} tokens"
    )
    click.echo()
    rows = [_row(each) for each in _objects(found, "candidates") if float(str(each.get("share", 0))) >= LEAST]
    print_table(("handle", "share", "model", "again", "likeness", "place"), rows)
    ruled_out = found.get("ruled_out")
    for handle, why in ruled_out.items() if isinstance(ruled_out, dict) else ():
        click.echo(safe(f"not {handle}: {why}"))


def _row(each: Mapping[str, object]) -> tuple[str, ...]:
    again, place = each.get("again"), each.get("place")
    return (
        str(each.get("handle")),
        f"{float(str(each.get('share', 0))):.1%}",
        f"{float(str(each.get('model', 0))):.1%}",
        "" if again is None else f"{float(str(again)):.1%}",
        f"{float(str(each.get('likeness', 0))):+.2f}",
        str(place) if place else "",
    )


def _objects(found: Mapping[str, object], name: str) -> list[dict[str, object]]:
    value = found.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(found: Mapping[str, object], name: str) -> list[str]:
    value = found.get(name)
    return [str(each) for each in value] if isinstance(value, list) else []
