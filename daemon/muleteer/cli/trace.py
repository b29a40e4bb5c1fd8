"""`muleteer trace`: what one of the last turns did, as a tree with times and tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe

Step = Mapping[str, object]


@click.command()
@click.argument("turn", required=False)
@json_option
@socket_option
def trace(turn: str | None, as_json: bool, socket: Path | None) -> None:
    """Show what TURN did, or the last turn: its plan, levels and calls, with their times and tokens.

    TURN is an id as the log and `muleteer ask --json` have it, or its beginning. The daemon keeps the last
    hundred, without what was said.

    \b
    Example:
      muleteer trace
    """
    from muleteer.cli.client import Daemon, find_socket

    path = f"/v1/traces/{quote(turn, safe='')}" if turn else "/v1/traces/newest"
    body = Daemon(find_socket(socket)).get(path)
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
        return
    for line in tree(body):
        click.echo(safe(line))


def tree(trace: Mapping[str, object]) -> Iterator[str]:
    """The lines of one trace."""
    skill = f" of @{trace['skill']}" if trace.get("skill") else ""
    yield f"turn {trace.get('turn')}{skill}, {trace.get('outcome')}, {_ms(trace.get('ms'))}"
    listed = trace.get("steps")
    steps = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    parents = [index for index, each in enumerate(steps) if each.get("step") == "plan"] or [-1]
    for index, each in enumerate(steps):
        below = each.get("step") != "plan" and index > parents[0] >= 0
        more = any(other > index for other in parents) if not below else _goes_on(steps, index)
        trunk = ("│  " if any(other > index for other in parents) else "   ") if below else ""
        branch = "├─ " if more else "└─ "
        yield f"{trunk}{branch}{_said(each)}"
    tokens = [
        sum(_count(each, name) for each in steps) for name in ("prompt", "reused", "decoded", "generated")
    ]
    yield "{} tokens of prompt, {} of them reused, {} decoded; {} generated".format(*tokens)


def _goes_on(steps: list[dict[str, object]], index: int) -> bool:
    """Whether the same plan has another step after this one."""
    return index + 1 < len(steps) and steps[index + 1].get("step") != "plan"


def _said(step: Step) -> str:
    at = _ms(step.get("at"))
    match step.get("step"):
        case "plan":
            handles = step.get("handles")
            names = ", ".join(f"@{each}" for each in handles) if isinstance(handles, list) else ""
            confidence = step.get("confidence")
            sure = f", {confidence:.0%} sure" if isinstance(confidence, int | float) else ""
            return f"plan {step.get('attempt')}: {names or '@reply'}{sure}  ({at})"
        case "level":
            counts = ", ".join(
                f"{_count(step, name)} {name}" for name in ("prompt", "reused", "decoded", "generated")
            )
            return f"{step.get('name')}: {counts}, {_ms(step.get('ms'))}  ({at})"
        case "call":
            return f"call {step.get('tool')}  ({at})"
        case _:
            return f"{step.get('tool')}: {step.get('status')}, {_ms(step.get('ms'))}  ({at})"


def _count(step: Step, name: str) -> int:
    value = step.get(name)
    return value if isinstance(value, int) else 0


def _ms(value: object) -> str:
    return f"{value:.0f} ms" if isinstance(value, int | float) else ""
