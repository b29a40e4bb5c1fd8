"""`muleteer voice ...`: talking to this device through a microphone and a speaker.

Running it is one process; the other commands talk to that process over its control socket.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from muleteer.cli.options import config_option, json_option, socket_option
from muleteer.cli.render import print_pairs, safe
from muleteer.cli.voice_bench import bench
from muleteer.cli.voice_weights import pull
from muleteer.errors import SocketError

control_option = click.option(
    "--control",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The control socket of voice. Else MULETEER_VOICE__SOCKET, then the settings, then the usual place.",
)


@click.group(invoke_without_command=True)
@socket_option
@config_option
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="What is logged.")
@click.pass_context
def voice(context: click.Context, socket: Path | None, file: Path | None, log_level: str | None) -> None:
    """Talk through a microphone and a speaker: without a command, listen until SIGTERM or Ctrl-C.

    \b
    Examples:
      muleteer voice
      muleteer voice mute
      muleteer voice say "Dinner is ready."
    """
    if context.invoked_subcommand is not None:
        return
    from muleteer import config, log
    from muleteer.cli.client import find_socket
    from muleteer.errors import MissingPackageError

    settings = config.load(file, {"log.level": log_level})
    log.setup(settings.log.level)
    try:
        from muleteer.voice.process import run
    except ImportError as error:
        raise MissingPackageError(
            f"Voice needs packages that are not installed ({error.name}). Install them with: "
            "pip install 'muleteer[voice]'."
        ) from error
    run(settings, find_socket(socket))


@voice.command()
@json_option
@control_option
def status(as_json: bool, control: Path | None) -> None:
    """Show what voice does, and whether the microphone is muted.

    \b
    Example:
      muleteer voice status
    """
    _show(_asked(control, "GET", ""), as_json)


@voice.command()
@json_option
@control_option
def mute(as_json: bool, control: Path | None) -> None:
    """Let the microphone go: nothing is heard until it is unmuted, also after a restart.

    \b
    Example:
      muleteer voice mute
    """
    _show(_asked(control, "POST", "/mute"), as_json)


@voice.command()
@json_option
@control_option
def unmute(as_json: bool, control: Path | None) -> None:
    """Listen again. A switch at a pin that mutes goes on doing so.

    \b
    Example:
      muleteer voice unmute
    """
    _show(_asked(control, "POST", "/unmute"), as_json)


@voice.command()
@json_option
@control_option
def hush(as_json: bool, control: Path | None) -> None:
    """End what is being said, what is being done for it, and whatever rings.

    \b
    Example:
      muleteer voice hush
    """
    _show(_asked(control, "POST", "/hush"), as_json)


@voice.command()
@click.argument("text", nargs=-1, required=True)
@control_option
def say(text: tuple[str, ...], control: Path | None) -> None:
    """Say TEXT through the speaker.

    \b
    Example:
      muleteer voice say "Dinner is ready."
    """
    _asked(control, "POST", "/say", {"text": " ".join(text)})


@voice.command()
@json_option
def devices(as_json: bool) -> None:
    """List microphones and speakers, by the names that voice.microphone and voice.speaker take a part of.

    \b
    Example:
      muleteer voice devices
    """
    from muleteer.errors import MissingPackageError
    from muleteer.voice.audio.devices import names

    try:
        found = {"microphones": names("microphone"), "speakers": names("speaker")}
    except ImportError as error:
        raise MissingPackageError(
            "Sound needs a package that is not installed; install it with: pip install 'muleteer[voice]'."
        ) from error
    if as_json:
        click.echo(safe(json.dumps(found, ensure_ascii=False, indent=2)))
        return
    for kind, each in found.items():
        click.echo(f"{kind.title()}:")
        for name in each or ["none"]:
            click.echo(safe(f"  {name}"))


voice.add_command(bench)
voice.add_command(pull)


def _asked(
    control: Path | None, method: str, path: str, body: Mapping[str, object] | None = None
) -> dict[str, object]:
    """The answer of the voice process. Raises `SocketError` where none runs."""
    from muleteer import paths
    from muleteer.cli.client import Daemon, in_files

    place = paths.expand(control) if control else in_files("voice.socket") or paths.voice_client_socket()
    if not place.exists():
        raise SocketError(
            f"Voice does not run here (there is no {place}); start it: muleteer voice, or "
            "systemctl start muleteer-voice."
        )
    return Daemon(place).send(method, f"/v1/voice{path}", body if body is not None else {})


def _show(report: Mapping[str, object], as_json: bool) -> None:
    if as_json:
        click.echo(safe(json.dumps(report, ensure_ascii=False, indent=2)))
        return
    by = report.get("muted_by")
    who = [name for name, does in by.items() if does] if isinstance(by, dict) else []
    muted = f"muted (by {' and '.join(who)})" if report.get("muted") else str(report.get("microphone"))
    memory = report.get("memory")
    print_pairs(
        [
            ("state", f"{report.get('state')}{', ringing' if report.get('ringing') else ''}"),
            ("microphone", muted),
            ("wake word", str(report.get("wake_word"))),
            ("language", str(report.get("language"))),
            ("kept", "every utterance" if report.get("keeps") else "nothing that is said"),
            ("memory", f"{memory / 2**20:.0f} MiB" if isinstance(memory, int) else "?"),
        ]
    )
