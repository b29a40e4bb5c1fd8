"""`muleteer chat`: a conversation. What is kept of it comes from the daemon; what is said is sent along."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from muleteer.cli.ask import check, run_turn
from muleteer.cli.options import brain_option, session_option, socket_option
from muleteer.cli.render import complaint, print_ledger, safe
from muleteer.errors import MuleteerError
from muleteer.session import told_again

if TYPE_CHECKING:
    from muleteer.cli.client import Daemon

USUAL = "chat"  # the session that is resumed without a name
KEPT = 40  # messages; more than any prompt has room for, and the daemon drops whole old ones first


@click.command()
@click.option("--trace", is_flag=True, help="Print plan, calls and tokens by level after each answer.")
@click.option("--new", is_flag=True, help="Begin without what was said before; it has no name.")
@session_option
@brain_option
@socket_option
def chat(trace: bool, new: bool, name: str, brain: str, socket: Path | None) -> None:
    """Talk; replies know what was said before, also in an earlier chat.

    Tools understand "and in Tokyo?" after a question; otherwise name the place or the numbers again.
    Ctrl-C stops an answer and keeps the chat; Ctrl-D or /quit ends it.

    \b
    Example:
      muleteer chat
      muleteer chat --session holidays
    """
    from muleteer.cli.client import Daemon, find_socket

    interactive = sys.stdin.isatty()
    if interactive and importlib.util.find_spec("readline"):
        importlib.import_module("readline")  # from now on input() edits lines and remembers them
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # `check` says what is wrong, per message
    if new and name:
        raise click.UsageError("--new has no name; leave out --session, or choose a name that is not in use.")
    daemon = Daemon(find_socket(socket), "" if new else name or USUAL, brain)
    history = _said(daemon)  # also so that a missing daemon is told before the first message is typed
    if history and interactive:
        click.echo(f"(going on after {len(history)} messages; --new begins afresh)", err=True)
    while (message := _next(interactive)) is not None:
        if message.startswith("/"):
            click.echo(f"There is no command {safe(message.split()[0])}; /quit ends the chat.", err=True)
        elif message.strip():
            _exchange(daemon, message, history, trace)


def _said(daemon: Daemon) -> list[dict[str, str]]:
    """What was said in this session before, as far as the daemon keeps it."""
    messages = daemon.get(f"/v1/sessions/{quote(daemon.session, safe='')}").get("messages")
    found = [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []
    return [{key: str(each.get(key)) for key in ("role", "content")} for each in found]


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
        click.echo(complaint(error), err=True)
    else:
        said = told_again(turn.answer, bool(turn.calls))
        history += [{"role": "user", "content": message}, {"role": "assistant", "content": said}]
        if trace:
            print_ledger(turn)
