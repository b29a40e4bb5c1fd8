"""`muleteer chat`: a conversation. The history lives here and is sent with every message."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muleteer.cli.ask import check, run_turn
from muleteer.cli.options import socket_option
from muleteer.cli.render import print_ledger, safe
from muleteer.errors import MuleteerError

if TYPE_CHECKING:
    from muleteer.cli.client import Daemon

# What a tool returned is true once and for one question; in the history the model would say it again.
LOOKED_UP = "(I looked that up with a tool.)"
KEPT = 40  # messages; more than any prompt has room for, and the daemon drops whole old ones first


@click.command()
@click.option("--trace", is_flag=True, help="Print plan, calls and tokens by level after each answer.")
@socket_option
def chat(trace: bool, socket: Path | None) -> None:
    """Talk; replies know what was said before.

    Tools do not yet see earlier messages: name the place or the numbers again.
    Ctrl-C stops an answer and keeps the chat; Ctrl-D or /quit ends it.

    \b
    Example:
      muleteer chat
    """
    from muleteer.cli.client import Daemon, find_socket

    interactive = sys.stdin.isatty()
    if interactive and importlib.util.find_spec("readline"):
        importlib.import_module("readline")  # from now on input() edits lines and remembers them
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # `check` says what is wrong, per message
    history: list[dict[str, str]] = []
    daemon = Daemon(find_socket(socket))
    daemon.get("/v1/status")  # so that a missing daemon is told before the first message is typed
    while (message := _next(interactive)) is not None:
        if message.startswith("/"):
            click.echo(f"There is no command {safe(message.split()[0])}; /quit ends the chat.", err=True)
        elif message.strip():
            _exchange(daemon, message, history, trace)


def _next(interactive: bool) -> str | None:
    """The next message; None when the chat is over, empty when the line was given up with Ctrl-C."""
    try:
        line = input("> " if interactive else "")
    except EOFError:
        if interactive:
            click.echo()
        return None
    except KeyboardInterrupt:
        if not interactive:
            raise
        click.echo("\n(Ctrl-D or /quit ends the chat)", err=True)
        return ""
    return None if line.strip() == "/quit" else line


def _exchange(daemon: Daemon, message: str, history: list[dict[str, str]], trace: bool) -> None:
    """One turn. Only an answered message becomes history; an error is told and the chat goes on."""
    try:
        turn = run_turn(daemon, check(message), history[-KEPT:], show=True)
    except (KeyboardInterrupt, click.Abort):
        click.echo("(stopped)", err=True)
    except click.UsageError as error:
        click.echo(error.message, err=True)
    except MuleteerError as error:
        click.echo(f"Error: {safe(str(error))}", err=True)
    else:
        said = LOOKED_UP if turn.calls else turn.answer
        history += [{"role": "user", "content": message}, {"role": "assistant", "content": said}]
        if trace:
            print_ledger(turn)
