"""`muleteer tools`: list them; with a subcommand, change them. Subcommands live in files of their own, which
import what they need when they are called."""

from __future__ import annotations

from pathlib import Path

import click

from muleteer.cli.call import call
from muleteer.cli.new import new_tool
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.show import only_bare, print_menu, show
from muleteer.cli.steering import add_steering


@click.group(invoke_without_command=True)
@json_option
@socket_option
@click.pass_context
def tools(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """List the tools the daemon has loaded.

    Each with its state, where it is from, what it costs in tokens at each level (planner, follower, agent),
    and why it is disabled if it is.

    \b
    Example:
      muleteer tools
    """
    if only_bare(context, as_json, socket):
        show(socket, "/v1/tools", as_json, lambda body: print_menu(body, "tools"))


add_steering(tools, "tools")
tools.add_command(call)
tools.add_command(new_tool)
