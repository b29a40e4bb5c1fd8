"""`muleteer timers`: the timers of systemd that start background turns."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table, safe
from muleteer.errors import MuleteerError, RequestError

user_option = click.option("--user", is_flag=True, help="The user's own systemd, not the system's.")


@click.group()
def timers() -> None:
    """The timers that start skills with a schedule; changing them needs root, or --user.

    \b
    Example:
      sudo muleteer timers sync
    """


@timers.command()
@user_option
@json_option
@socket_option
def sync(user: bool, as_json: bool, socket: Path | None) -> None:
    """Give each skill with a schedule its timer, and take it from those without. Says what it changed.

    \b
    Example:
      sudo muleteer timers sync
    """
    from muleteer.background.schedule import delay, own_delay
    from muleteer.systemd.manager import Manager
    from muleteer.systemd.timers import Schedule
    from muleteer.systemd.timers import sync as make

    async def read() -> tuple[dict[str, Schedule], list[str]]:
        wanted, problems, device = {}, [], _device(socket)
        for skill, calendar in _calendars(socket).items():
            try:
                longest = await delay(calendar, time.time())
                wanted[skill] = Schedule(calendar, own_delay(longest, device, skill))
            except RequestError as error:
                problems.append(f"{skill}: {error}")
        return wanted, problems

    wanted, problems = asyncio.run(read())
    try:
        changes = make(Manager(user), wanted)
    except OSError as error:
        raise _refused(error) from error
    if as_json:
        click.echo(safe(json.dumps({"changes": changes, "problems": problems}, indent=2)))
    else:
        for line in changes or ["Nothing has changed."]:
            click.echo(safe(line))
    for line in problems:
        click.echo(safe(f"Left out: {line}"), err=True)
    if problems:
        raise click.exceptions.Exit(1)


@timers.command("list")
@user_option
@json_option
@socket_option
def list_(user: bool, as_json: bool, socket: Path | None) -> None:
    """List the timers, when each fires next and when it did last.

    \b
    Example:
      muleteer timers list
    """
    from muleteer.systemd.manager import Manager
    from muleteer.systemd.timers import listed

    calendars = _calendars(socket)
    rows = listed(Manager(user), calendars)
    wrong = asyncio.run(_wrong(calendars))
    if as_json:
        click.echo(safe(json.dumps({"timers": [asdict(each) for each in rows]}, indent=2)))
    elif not rows:
        click.echo("No skill has a schedule.")
    else:
        columns = ("skill", "schedule", "timer", "next", "last")
        print_table(columns, [(each.skill, each.calendar, each.state, each.next, each.last) for each in rows])
        if any(each.state == "missing" and each.skill not in wrong for each in rows):
            command = "muleteer timers sync --user" if user else "sudo muleteer timers sync"
            click.echo(f"A missing timer is made by: {command}")
    for skill, why in wrong.items():
        click.echo(safe(f"{skill}: {why}"), err=True)


@timers.command()
@click.argument("skill")
@user_option
def enable(skill: str, user: bool) -> None:
    """Let the timer of SKILL fire again.

    \b
    Example:
      sudo muleteer timers enable daily-brief
    """
    _switch(skill, user, True)


@timers.command()
@click.argument("skill")
@user_option
def disable(skill: str, user: bool) -> None:
    """Keep the timer of SKILL from firing, whatever `sync` finds.

    \b
    Example:
      sudo muleteer timers disable daily-brief
    """
    _switch(skill, user, False)


def _switch(skill: str, user: bool, on: bool) -> None:
    from muleteer.systemd.manager import Manager
    from muleteer.systemd.timers import switch, unit

    name = skill.removeprefix("@")
    if not (Manager(user).units / f"{unit(name)}.d").is_dir():
        raise RequestError(f"There is no timer for {name}; `muleteer timers sync` makes those of schedules.")
    changed = switch(Manager(user), name, on)
    state = "enabled" if on else "disabled"
    click.echo(safe(f"{unit(name)} is {state}." if changed else f"{unit(name)} was {state} already."))


def _device(socket: Path | None) -> str:
    """This device's id, as the daemon has it."""
    from muleteer.cli.client import Daemon, find_socket

    device = Daemon(find_socket(socket)).get("/v1/status").get("device")
    return str(device.get("id", "")) if isinstance(device, dict) else ""


def _calendars(socket: Path | None) -> dict[str, str]:
    """The schedules of the skills in use, as the daemon has them."""
    from muleteer.cli.client import Daemon, find_socket

    listed = Daemon(find_socket(socket)).get("/v1/skills").get("skills")
    skills = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {
        str(each["name"]): str(each["schedule"])
        for each in skills
        if each.get("schedule") and each.get("state") == "enabled"
    }


async def _wrong(calendars: Mapping[str, str]) -> dict[str, str]:
    """Of which skills the schedule cannot be understood, and why."""
    from muleteer.background.schedule import misread

    found = {skill: await misread(calendar) for skill, calendar in calendars.items()}
    return {skill: why for skill, why in found.items() if why}


def _refused(error: OSError) -> MuleteerError:
    advice = "; run it with sudo, or with --user" if isinstance(error, PermissionError) else ""
    return MuleteerError(f"{error.filename or 'The timers'}: {error.strerror}{advice}.")
