"""The command `muleteer`: which subcommands there are, how errors end the process.

Each subcommand is imported when it is used, so that `--help` and `--version` are quick on a small board.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from muleteer import __version__, exits
from muleteer.cli import remote
from muleteer.cli.ending import unwinding
from muleteer.cli.render import complaint
from muleteer.errors import MuleteerError

# Name: the module and attribute of the command, and the line that `muleteer --help` shows.
COMMANDS = {
    "serve": ("muleteer.cli.serve:serve", "Run the daemon until it is told to stop."),
    "ask": ("muleteer.cli.ask:ask", "Ask once and print the answer."),
    "chat": ("muleteer.cli.chat:chat", "Talk; replies know what was said before."),
    "plan": ("muleteer.cli.plan:plan", "Show what would be chosen for a message, and why."),
    "sessions": ("muleteer.cli.sessions:sessions", "List and forget conversations that have a name."),
    "confirm": ("muleteer.cli.confirm:confirm", "Answer the question that a turn ended with."),
    "brains": ("muleteer.cli.brains:brains", "List which models may answer."),
    "status": ("muleteer.cli.status:status", "Show how the daemon and its engine are."),
    "skills": ("muleteer.cli.skills:skills", "List and change what the planner may choose."),
    "tools": ("muleteer.cli.tools:tools", "List and change what can be called."),
    "memory": ("muleteer.cli.memory:memory", "Look at, search and forget what is kept."),
    "alarms": ("muleteer.cli.alarms:alarms", "List the timers and alarms that are set, and cancel them."),
    "seat": ("muleteer.cli.seat:seat", "Show and move the driver's seat; join devices to a household."),
    "devices": ("muleteer.cli.devices:devices", "List the devices that are announced on the network."),
    "model": ("muleteer.cli.model:model", "List, fetch, verify and choose models."),
    "config": ("muleteer.cli.config:config", "Show which settings are in force, and from where."),
    "offline": ("muleteer.cli.offline:offline", "Keep tools from the network, or let them use it."),
    "turn": ("muleteer.cli.turn:turn", "Run a skill for the slot of its schedule that is due."),
    "timers": ("muleteer.cli.timers:timers", "The timers of systemd that start background turns."),
    "inbox": ("muleteer.cli.inbox:inbox", "Show what background turns came to."),
    "trace": ("muleteer.cli.trace:trace", "Show what a turn did, with times and tokens."),
    "logs": ("muleteer.cli.logs:logs", "Show the service's log."),
    "doctor": ("muleteer.cli.doctor:doctor", "Check this device, and say what to do."),
    "install": ("muleteer.cli.install:install", "Make the daemon a service of systemd."),
    "uninstall": ("muleteer.cli.install:uninstall", "Take that service away."),
    "reload": ("muleteer.cli.reload:reload", "Take up new settings, skills and tools without a restart."),
    "bench": ("muleteer.cli.bench:bench", "Measure this machine against llama.cpp's own server."),
    "evaluate": ("muleteer.cli.evaluate:evaluate", "Measure how well a model does, in harness and without."),
    "voice": ("muleteer.cli.voice:voice", "Talk through a microphone and a speaker."),
    "mcp": ("muleteer.cli.mcp:mcp", "Offer this device to another agent, by pipes (MCP)."),
    "pair": ("muleteer.cli.pair:pair", "Let a client in over the network, or become one."),
    "tokens": ("muleteer.cli.tokens:tokens", "List, make and revoke the tokens of clients."),
    "demo": ("muleteer.cli.demo:demo", "Start a daemon, ask it three questions, stop it."),
}

# What has nothing to do with another device's daemon.
HERE = frozenset(
    (
        "serve",
        "model",
        "config",
        "logs",
        "doctor",
        "install",
        "uninstall",
        "timers",
        "turn",
        "bench",
        "evaluate",
    )
) | {"demo"}


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and ends every error with its exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}:{attribute} is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> NoReturn:
        """Run a command and end the process (`SystemExit`) with one of `exits`, or by the signal it got."""
        _open_streams()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # an answer may hold what this terminal cannot show
        options["standalone_mode"] = False
        try:
            with unwinding():
                sys.exit(super().main(args, *rest, **options) or exits.OK)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(exits.INTERRUPTED)
        except MuleteerError as error:
            click.echo(complaint(error), err=True)
            sys.exit(exits.code_of(error))
        except OSError as error:  # what is left are the standard streams: a full disk, a vanished terminal
            click.echo(f"Error: Cannot read or write: {error.strerror or error}.", err=True)
            sys.exit(exits.TURN_FAILED)


def _open_streams() -> None:
    """Standard streams that were closed (`2>&-`, a bare service) lead nowhere instead of being None."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (open for life)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=exits.TEXT,
)
@click.version_option(__version__, prog_name="muleteer")
@click.option("--device", metavar="NAME", help="Talk to another device, paired by `muleteer pair --with`.")
@click.pass_context
def main(context: click.Context, device: str | None) -> None:
    """A small language model in harness: a daemon, and the commands that talk to it.

    \b
    Example:
      muleteer serve &
      muleteer ask "What time is it in Istanbul?"
      muleteer --device kitchen ask "Is the light on?"
    """
    if device and context.invoked_subcommand in HERE:
        raise click.UsageError(f"{context.invoked_subcommand} works on this device alone; run it there.")
    if device:
        context.meta[remote.CHOSEN] = device
