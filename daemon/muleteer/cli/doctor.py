"""`muleteer doctor`: this device, looked over."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import click

from muleteer import exits
from muleteer.cli.options import config_option, json_option, socket_option
from muleteer.cli.render import safe

MARKS = {"good": "ok", "doubtful": "look", "bad": "BAD"}


@click.command()
@click.option("--problems", is_flag=True, help="Only what is not good.")
@config_option
@json_option
@socket_option
def doctor(problems: bool, file: Path | None, as_json: bool, socket: Path | None) -> None:
    """Check Python, processor, memory, disk, heat, clock, network, socket, daemon, seat and timers, and say
    what to do about each. Exit code 1: something is bad.

    \b
    Example:
      muleteer doctor
    """
    from muleteer import config, paths
    from muleteer.cli.client import find_socket, in_files
    from muleteer.doctor import machine, service, voice

    place = find_socket(socket)
    if not isinstance(place, Path):
        raise click.UsageError("It looks at this device; run it there.")
    hearing = voice.checks(in_files("voice.socket") or paths.voice_client_socket())
    checks = chain(machine.checks(config.load(file)), service.checks(place), hearing)
    findings = [each for each in checks if each.verdict != "good" or not problems]
    if as_json:
        click.echo(safe(json.dumps({"findings": [asdict(each) for each in findings]}, indent=2)))
    for each in [] if as_json else findings:
        click.echo(safe(f"{MARKS[each.verdict]:<5} {each.name:<10} {each.said.rstrip('.')}."))
        if each.advice:
            click.echo(safe(f"      {'':<10} -> {each.advice}"))
    if any(each.verdict == "bad" for each in findings):
        raise click.exceptions.Exit(exits.TURN_FAILED)
