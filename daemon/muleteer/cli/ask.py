"""`muleteer ask`: one message, one answer."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muleteer import exits
from muleteer.cli.options import brain_option, json_option, session_option, socket_option
from muleteer.cli.render import Activity, doing, print_ledger, print_levels, safe
from muleteer.cli.reported import QuestionError, ReportedError
from muleteer.errors import LoadingError, MuleteerError

if TYPE_CHECKING:
    from muleteer.cli.client import Daemon
    from muleteer.harness.events import TurnFinished

Events = Generator[tuple[str, dict[str, object]], None, None]

LOADING_SECONDS = (
    600.0  # a slow card reads the default model at 20 MB/s, a slow board its menu at 30 tokens/s
)
RETRY_SECONDS = 0.5  # between two requests to a daemon that refuses at once
LARGEST_INPUT = 1 << 20  # bytes; far over every message budget (131072 tokens are about half of it)


@click.command()
@click.argument("message", nargs=-1)
@click.option("--trace", is_flag=True, help="Print plan, calls and tokens by level to standard error.")
@session_option
@brain_option
@json_option
@socket_option
def ask(
    message: tuple[str, ...], trace: bool, name: str, brain: str, as_json: bool, socket: Path | None
) -> None:
    """Ask once and print the answer, on a terminal as it comes.

    MESSAGE may be several words; `-`, or none in a pipe, reads it from standard input. Put `--` before a
    message that begins with a dash. Waits for a daemon that is still loading. A tool that needs a yes asks on
    a terminal; elsewhere the question is printed, nothing is done, and the exit code is 1.

    \b
    Examples:
      muleteer ask "What time is it in Istanbul?"
      muleteer ask --json how much is 17 percent of 230
      muleteer ask --brain desk "Why is the sky blue?"
      muleteer ask --session trip "And in Oslo?"
      echo "Remember that the key is under the pot" | muleteer ask --trace -
    """
    text = _message(message)
    try:
        from muleteer.cli.client import Daemon, find_socket

        turn = run_turn(Daemon(find_socket(socket), name, brain), text, [], show=not as_json)
    except MuleteerError as error:
        if trace and isinstance(error, ReportedError):
            print_levels(error.levels)
        if not as_json:
            raise
        print_json(error.as_dict())
        sys.exit(exits.code_of(error))
    if as_json:
        print_json(turn.as_dict())
    if trace:
        print_ledger(turn)


def run_turn(
    daemon: Daemon, message: str, history: Sequence[Mapping[str, str]], *, show: bool
) -> TurnFinished:
    """Run one turn and, with `show`, print its answer: piece by piece on a terminal, else whole at the end.

    Whatever ends it early (an error, Ctrl-C) closes the connection, which stops the turn in the daemon.
    Raises `QuestionError` for a question that cannot be asked here.
    """
    from muleteer.cli.client import finished

    activity = Activity()
    name, data = play(_events(daemon, message, history, activity), activity, show)
    if name == "confirm":
        if not (show and sys.stdin.isatty()):
            raise QuestionError(data)
        yes = click.confirm(safe(str(data.get("question", ""))), err=True)
        name, data = play(daemon.confirm(str(data.get("turn", "")), yes), activity, show)
    return finished(data)


def play(turn: Events, activity: Activity, show: bool) -> tuple[str, dict[str, object]]:
    """The last event of a turn, while what it does and says is shown."""
    live = show and sys.stdout.isatty()
    begun, name, data = False, "", dict[str, object]()
    with closing(turn) as events:
        try:
            for name, data in events:
                if name == "text" and live:
                    activity.clear()
                    click.echo(safe(str(data.get("text", ""))), nl=False)
                    begun = True
                elif not begun and (words := doing(name, data)):
                    activity.show(words)
        finally:
            activity.clear()
            if begun:
                click.echo()
    if show and not begun and name == "turn.finished":
        answer = str(data.get("answer", ""))
        click.echo(safe(answer) if live else answer)
    return name, data


def _events(daemon: Daemon, message: str, history: Sequence[Mapping[str, str]], activity: Activity) -> Events:
    """The events of a turn. A daemon that is still loading lets a request wait some seconds and then says
    so; it is asked again until it is ready."""
    deadline = time.monotonic() + LOADING_SECONDS
    while True:
        asked = time.monotonic()
        try:
            yield from daemon.turn(message, history)
        except ReportedError as error:
            if error.reported != LoadingError.code or asked > deadline:
                raise
            activity.wait("Waiting for the model, which is still loading")
            time.sleep(max(0.0, RETRY_SECONDS - (time.monotonic() - asked)))
        else:
            return


def check(message: str) -> str:
    """`message`, if it is text that can be sent. Raises `click.UsageError`."""
    try:
        message.encode()
    except UnicodeEncodeError as error:
        raise click.UsageError("The message is not valid UTF-8; check the terminal's encoding.") from error
    if not message.strip():
        raise click.UsageError("The message is empty; say what you want to know.")
    return message


def _message(words: tuple[str, ...]) -> str:
    if not words and sys.stdin.isatty():
        raise click.UsageError('Say what to ask: muleteer ask "What time is it?"')
    if words not in ((), ("-",)):
        return check(" ".join(words))
    raw = sys.stdin.buffer.read(LARGEST_INPUT + 1)
    if len(raw) > LARGEST_INPUT:
        raise click.UsageError(f"The message is larger than {LARGEST_INPUT} bytes; ask about a part of it.")
    return check(raw.decode("utf-8", "surrogateescape"))


def print_json(value: Mapping[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    click.echo(safe(text) if sys.stdout.isatty() else text)
