"""`muleteer demo`: one daemon in a temporary folder, three questions over its real socket, a clean stop."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from muleteer import exits, tied
from muleteer.cli.client import Daemon
from muleteer.errors import MuleteerError

QUESTIONS = (
    "What time is it in Istanbul?",
    "How much is 18.5 percent of 249?",
    "Why do cats purr?",
)
START_SECONDS = (
    600.0  # a slow card reads the default model at about 20 MB/s, a slow board its menu at 30 tokens/s
)
STOP_SECONDS = 30.0  # more than the daemon's own stop_timeout and the engine's end together
LOOK_SECONDS = 0.2  # between two looks at a starting daemon


@click.command()
@click.option("--model", default="standard", show_default=True, help="Catalogue name or path of a GGUF file.")
def demo(model: str) -> int:
    """Start a daemon in a temporary folder, ask it three questions, stop it.

    \b
    Example:
      muleteer demo --model small
    """
    with tempfile.TemporaryDirectory(prefix="muleteer-demo-") as folder:
        socket, log = Path(folder) / "socket", Path(folder) / "log"
        click.echo(
            f"Starting a daemon with the model {model} in {folder}; it loads the model and reads its menu ..."
        )
        options = ["--state", f"{folder}/state", "--socket", str(socket), "--model", model]
        with log.open("wb") as out:
            process = subprocess.Popen(tied.command("serve", *options), stderr=out)
        try:
            began = time.monotonic()
            _wait(process, socket, log)
            click.echo(f"Ready after {time.monotonic() - began:.1f} s.")
            for question in QUESTIONS:
                click.echo(f"\n> {question}")
                asked = ["ask", "--trace", "--socket", str(socket), question]
                command = [sys.executable, "-m", "muleteer", *asked]
                if code := subprocess.run(command, check=False).returncode:
                    return code
        finally:
            process.terminate()
            ended = process.wait(STOP_SECONDS)
        if ended != -signal.SIGTERM or socket.exists():
            click.echo(f"The daemon did not stop cleanly (exit code {ended}):\n{log.read_text()}", err=True)
            return exits.TURN_FAILED
        click.echo("\nThe daemon stopped cleanly.")
    return exits.OK


def _wait(process: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    """Until a turn can be served. Raises `ClickException` with the daemon's own words if it ends first."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            if Daemon(socket).get("/v1/status").get("state") == "ready":
                return
        except MuleteerError:
            pass  # not listening yet
        try:
            process.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        raise click.ClickException(f"The daemon did not start:\n{log.read_text(errors='replace').strip()}")
    raise click.ClickException(f"The daemon was not ready within {START_SECONDS:g} s.")
