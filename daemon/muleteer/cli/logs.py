"""`muleteer logs`: the service's journal, by its own fields."""

from __future__ import annotations

import os
import shutil
import subprocess

import click

from muleteer.errors import MuleteerError

PRIORITIES = ("debug", "info", "warning", "err")


@click.command()
@click.option("--turn", metavar="ID", help="Only what belongs to this turn.")
@click.option("--level", type=click.Choice(PRIORITIES), help="Only what is at least that serious.")
@click.option("--since", metavar="WHEN", help='As journalctl has it: "1 hour ago", "today", a date.')
@click.option("--lines", "-n", type=click.IntRange(1, 100_000), default=100, show_default=True)
@click.option("--follow", "-f", is_flag=True, help="Go on, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a record, with every field.")
@click.option("--user", is_flag=True, help="Of your own service, not the system's.")
def logs(
    turn: str | None,
    level: str | None,
    since: str | None,
    lines: int,
    follow: bool,
    as_json: bool,
    user: bool,
) -> None:
    """Show the log of the service. What people said is in it only at the level debug.

    \b
    Example:
      muleteer logs --level warning
    """
    if not (program := shutil.which("journalctl")):
        raise MuleteerError(
            "There is no journalctl here; a daemon without systemd logs to its own standard error."
        )
    if not _installed(user):
        raise MuleteerError(
            "No service of Muleteer is installed here; `muleteer install` does that. A daemon that was"
            " started with `muleteer serve` logs to its own standard error."
        )
    units = ("muleteer.service", "muleteer-turn@*.service", "muleteer-health.service")
    command = [program, "--no-pager", f"--lines={lines}"]
    command += [f"--{'user-' if user else ''}unit={unit}" for unit in units]
    command += [f"--priority={level}"] if level else []
    command += [f"--since={since}"] if since else []
    command += ["--follow"] if follow else []
    command += ["--output=json"] if as_json else []
    command += [f"MULETEER_TURN={turn}"] if turn else []
    os.execv(program, command)  # noqa: S606 (the user's own command, in place of this process)


def _installed(user: bool) -> bool:
    """Whether systemd knows the service; a journal without a systemd that answers is shown as it is."""
    if not (program := shutil.which("systemctl")):
        return True
    command = [program, *(["--user"] if user else []), "cat", "muleteer.service"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode == 0 or "No files found" not in found.stderr
