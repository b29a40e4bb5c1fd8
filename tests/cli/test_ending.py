"""Told to end, a command leaves no temporary folder and no child, and ends by the signal it got."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

SECONDS = 60.0  # a busy machine is forgiven

# Commands with a temporary folder and a child: one that waits in a call, two in an event loop.
PROGRAM = """
import asyncio, subprocess, sys, tempfile, types
import click, uvloop
from muleteer import cli

SLEEP = [sys.executable, "-c", "import signal; signal.pause()"]

@click.command()
def called():
    with tempfile.TemporaryDirectory():
        child = subprocess.Popen(SLEEP)
        try:
            print(child.pid, flush=True)
            child.wait()
        finally:
            child.kill()
            child.wait()

async def work():
    with tempfile.TemporaryDirectory():
        child = await asyncio.create_subprocess_exec(*SLEEP)
        try:
            print(child.pid, flush=True)
            await child.wait()
        finally:
            child.kill()
            await child.wait()

@click.command()
def looped():
    asyncio.run(work())

@click.command()
def fast():
    uvloop.run(work())

sys.modules["own"] = types.SimpleNamespace(called=called, looped=looped, fast=fast)
for name in ("called", "looped", "fast"):
    cli.COMMANDS[name] = (f"own:{name}", "")
cli.main()
"""


def start(program: list[str], folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"TMPDIR": str(folder)}
    return subprocess.Popen([sys.executable, *program], stdout=subprocess.PIPE, text=True, env=environment)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    stdout: IO[str] = process.stdout
    return stdout.readline()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["called", "looped", "fast"])
def test_a_command_that_is_told_to_end_leaves_nothing(
    tmp_path: Path, command: str, number: signal.Signals
) -> None:
    with start(["-c", PROGRAM, command], tmp_path) as process:
        child = os.pidfd_open(int(first_line(process)))
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        assert process.wait(SECONDS) == -number
    with pytest.raises(ProcessLookupError):
        signal.pidfd_send_signal(child, signal.SIGTERM)
    os.close(child)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.model("tiny")
def test_the_demo_takes_its_daemon_along(tmp_path: Path) -> None:
    with start(["-m", "muleteer", "demo", "--model", "tiny"], tmp_path) as process:
        assert "Starting a daemon" in first_line(process)
        process.terminate()
        assert process.wait(SECONDS) == -signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
