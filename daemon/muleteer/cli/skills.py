"""`muleteer skills`: list them; with a subcommand, change them. Subcommands live in files of their own, which
import what they need when they are called."""

from __future__ import annotations

from pathlib import Path

import click

from muleteer.cli.bundles import export_skill, import_skill
from muleteer.cli.check import check
from muleteer.cli.new import new_skill
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.show import only_bare, print_menu, show
from muleteer.cli.steering import add_steering


@click.group(invoke_without_command=True)
@json_option
@socket_option
@click.pass_context
def skills(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """List the skills the daemon has loaded.

    Each with its state, where it is from, what it costs in tokens at each level (planner, follower, agent),
    and why it is disabled if it is.

    \b
    Example:
      muleteer skills
    """
    if only_bare(context, as_json, socket):
        show(socket, "/v1/skills", as_json, lambda body: print_menu(body, "skills"))


add_steering(skills, "skills")
for command in (check, new_skill, export_skill, import_skill):
    skills.add_command(command)
