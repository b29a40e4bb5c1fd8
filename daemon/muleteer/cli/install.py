"""`muleteer install` and `muleteer uninstall`: the service, in place or gone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from muleteer.cli.render import safe
from muleteer.errors import ConfigError, MuleteerError

if TYPE_CHECKING:
    from muleteer.systemd.installing import Step

user_option = click.option("--user", is_flag=True, help="For yourself alone, in your own systemd.")
dry_option = click.option("--dry-run", is_flag=True, help="Only show every file and command.")


@click.command()
@user_option
@dry_option
@click.option("--no-start", is_flag=True, help="Enable it, and leave the start to you.")
def install(user: bool, dry_run: bool, no_start: bool) -> None:
    """Make the daemon a service of systemd that starts with the system, and start it.

    Done again, it brings the service up to date with this Muleteer and with the settings (service.*, folders
    in homes, gateway.listen). State, models and settings stay. Where a Debian package has brought the
    service, only what follows from the settings is done.

    \b
    Example:
      sudo muleteer install --dry-run
    """
    from muleteer import config, paths
    from muleteer.gateway import tcp
    from muleteer.systemd import installing
    from muleteer.systemd.manager import Manager

    program = installing.program()
    if not user and (why := installing.reachable(program)):
        raise ConfigError(f"The service could not start: {why}.")
    shared = paths.SYSTEM_CONFIG / "config.toml"
    settings = config.load(shared if not user and shared.exists() else None)
    wish = installing.Wish(
        settings.service.memory_high,
        settings.service.memory_max,
        (*settings.files.folders, *settings.calendar.folders),
        settings.service.lan_only,
        tcp.addresses(settings.gateway.listen, settings.gateway.port),
    )
    _carry_out(installing.install(Manager(user), program, wish, not no_start), user, dry_run)
    if not dry_run:
        who = "muleteer ask" if user else "sudo usermod -aG muleteer NAME, who can then use: muleteer ask"
        click.echo(f"The service is in place. {who}")


@click.command()
@user_option
@dry_option
@click.option("--purge", is_flag=True, help="Also remove what was kept: notes, memory, models, settings.")
def uninstall(user: bool, dry_run: bool, purge: bool) -> None:
    """Stop the service and take it away. What it has kept stays, unless you say --purge.

    \b
    Example:
      sudo muleteer uninstall
    """
    from muleteer.systemd import installing
    from muleteer.systemd.manager import Manager

    _carry_out(installing.uninstall(Manager(user), purge), user, dry_run)


def _carry_out(steps: Sequence[Step], user: bool, dry_run: bool) -> None:
    if not dry_run and not user and os.geteuid() != 0:
        raise MuleteerError("Only root can change the system's services; use sudo, or --user.")
    for step in steps:
        needed = step.needed()
        click.echo(safe(f"{step}{'' if needed else '  (is so already)'}"))
        if needed and not dry_run:
            try:
                step.carry_out()
            except OSError as error:
                raise MuleteerError(f"{error.filename}: {error.strerror}.") from error
