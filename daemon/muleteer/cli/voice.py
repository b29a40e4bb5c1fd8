"""`muleteer voice ...`: talking to this device through a microphone and a speaker."""

from __future__ import annotations

import click

from muleteer.cli.voice_weights import pull


@click.group(epilog="Example: muleteer voice pull base")
def voice() -> None:
    """Talk through a microphone and a speaker."""


voice.add_command(pull)
