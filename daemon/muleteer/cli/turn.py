"""`muleteer turn`: a background turn, as a timer asks for it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from muleteer import exits
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import Activity, safe
from muleteer.errors import MuleteerError

# Seconds: the longest wait that the settings allow (12 h), the turn before it, its own, and some more.
LONGEST = 50_000.0
NO_TURN = "connection_lost"
BY_HAND = "by hand"  # how the slot of a turn begins that no schedule has asked for
# Seconds before each further try of a timer's turn: a restart takes some, a repair an hour. Then it ends: a
# unit that went on for ever would hide that the daemon is broken.
PAUSES = (5.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0)
WORTH_IT = (exits.NO_DAEMON, exits.ENGINE_UNAVAILABLE)  # codes of what another try may mend


@click.command()
@click.argument("skill")
@click.option("--now", is_flag=True, help="Whatever its schedule says, once more.")
@click.option("--retry", is_flag=True, help="Try again for an hour while no daemon or no model is there.")
@json_option
@socket_option
def turn(skill: str, now: bool, retry: bool, as_json: bool, socket: Path | None) -> None:
    """Run SKILL for the slot of its schedule that is due, unless that was done already.

    The daemon decides whether it may run: it asks the driver's seat, and waits while the device is hot, on
    battery, or somebody talks. The result is in the inbox.

    \b
    Example:
      muleteer turn daily-brief
    """
    from muleteer.cli.client import Daemon, find_socket

    request: dict[str, object] = {"skill": skill.removeprefix("@"), "now": now}

    def ask() -> dict[str, object]:
        return Daemon(find_socket(socket)).send("POST", "/v1/background", request, LONGEST)

    try:
        with Activity().during(f"Running {skill}, as soon as the device and the household let it"):
            ended = patiently(ask, PAUSES if retry else ())
    except MuleteerError as error:
        if (code := _code_of(error)) == exits.code_of(error):
            raise
        click.echo(f"Error: {safe(str(error))}", err=True)
        raise click.exceptions.Exit(code) from None
    state, reason = str(ended.get("state")), str(ended.get("reason") or "")
    if as_json:
        click.echo(safe(json.dumps(ended, ensure_ascii=False, indent=2)))
    else:
        line = f"{ended.get('skill')} {_when(str(ended.get('slot')))}: {state}"
        click.echo(safe(f"{line}. {reason}" if reason else f"{line}."))
        if ended.get("text"):
            click.echo(safe(str(ended["text"])))
    if state == "failed":
        raise click.exceptions.Exit(exits.TURN_FAILED)


def _when(slot: str) -> str:
    """Which turn it was: that of a time of its schedule, or one more."""
    return "was run by hand" if slot.startswith(BY_HAND) else f"at {slot}"


def patiently(
    ask: Callable[[], dict[str, object]],
    pauses: Sequence[float],
    pause: Callable[[float], None] = time.sleep,
) -> dict[str, object]:
    """What `ask` returns, asked again after each of so many seconds while no daemon or no model is there.
    Raises what the last try has raised."""
    for seconds in pauses:
        try:
            return ask()
        except MuleteerError as error:
            if _code_of(error) not in WORTH_IT:
                raise
            click.echo(f"{safe(str(error))} Trying again in {seconds:.0f} seconds.", err=True)
        pause(seconds)
    return ask()


def _code_of(error: MuleteerError) -> int:
    """The exit code: a daemon that died meanwhile may be there again soon."""
    lost = getattr(error, "reported", "") == NO_TURN
    return exits.ENGINE_UNAVAILABLE if lost else exits.code_of(error)
