"""`muleteer demo`: one daemon in a temporary folder, three questions over its real socket, a clean stop.

Uses the installed command like a stranger would; imports nothing of the daemon.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

QUESTIONS = (
    "What time is it in Istanbul?",
    "How much is 18.5 percent of 249?",
    "Why do cats purr?",
)

# Seconds until the daemon must be ready: a slow card reads the default model at about 20 MB/s.
START_SECONDS = 300.0


@click.command(epilog="Example: muleteer demo --model tiny")
@click.option("--model", default="standard", show_default=True, help="Catalogue name or path of a GGUF file.")
def demo(model: str) -> None:
    """Start a throw-away daemon, ask it three questions, show answers and token ledgers, stop it."""
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="muleteer-demo-") as folder:
        socket = Path(folder) / "muleteer.sock"
        log = Path(folder) / "log"
        console.print(f"Starting a daemon in {folder} with the model [bold]{model}[/] ...")
        with log.open("wb") as out:
            daemon = subprocess.Popen(
                [
                    *_muleteer(),
                    "serve",
                    "--state",
                    f"{folder}/state",
                    "--socket",
                    str(socket),
                    "--model",
                    model,
                ],
                stderr=out,
            )
        try:
            began = time.monotonic()
            _wait(daemon, socket, log)
            console.print(f"Ready after {time.monotonic() - began:.1f} s.")
            for question in QUESTIONS:
                _ask(console, socket, question)
        finally:
            daemon.send_signal(signal.SIGTERM)
            code = daemon.wait(timeout=30)
        stopped = code in (0, -signal.SIGTERM) and not socket.exists()
        console.print("\nThe daemon stopped cleanly." if stopped else f"\nThe daemon ended with {code}.")
        if not stopped:
            raise SystemExit(1)


def _muleteer() -> list[str]:
    return [sys.executable, "-m", "muleteer"]


def _wait(daemon: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    """Until a turn can be served; a daemon that ends first says why."""
    ready = [*_muleteer(), "status", "--wait", str(START_SECONDS), "--socket", str(socket)]
    asking = subprocess.Popen(ready, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while asking.poll() is None:
        try:
            daemon.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            continue
        asking.kill()
        asking.wait()
        raise click.ClickException(log.read_text(errors="replace").strip()[-1000:])
    if asking.returncode:
        raise click.ClickException(f"The daemon was not ready within {START_SECONDS:g} s.")


def _ask(console: Console, socket: Path, question: str) -> None:
    done = subprocess.run(
        [*_muleteer(), "ask", "--json", "--socket", str(socket), question],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    turn = json.loads(done.stdout)
    console.print(f"\n[bold cyan]> {question}[/]")
    if "error" in turn:
        raise click.ClickException(turn["error"]["message"])
    console.print(turn["answer"], markup=False)
    table = Table(box=None, header_style="dim")
    for column in ("level", "prompt", "reused", "decoded", "generated", "ms"):
        table.add_column(column, justify="left" if column == "level" else "right")
    for level in turn["levels"]:
        table.add_row(
            level["name"],
            *(str(level[k]) for k in ("prompt", "reused", "decoded", "generated")),
            f"{level['ms']:.0f}",
        )
    console.print(table)
    tools = ", ".join(f"{call['tool']} {call['status']} in {call['ms']:.0f} ms" for call in turn["calls"])
    console.print(
        f"handles: {', '.join(turn['handles']) or 'none'}; calls: {tools or 'none'}; {turn['ms']:.0f} ms",
        style="dim",
    )
