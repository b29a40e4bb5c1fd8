"""A child that is tied to its parent ends with it, and is the command line in everything else."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from muleteer import tied

CHILD = """
import signal, time
from muleteer import tied

tied.tie(signal.SIGTERM)
print(1, flush=True)
time.sleep(600)
"""


async def run(*command: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    return process.returncode, out.decode()


async def test_it_is_the_command_line() -> None:
    code, out = await run(*tied.command("--version"))
    assert (code, "muleteer" in out) == (0, True)
    code, _ = await run(*tied.command("no-such-command"))
    assert code == 2


async def test_nothing_is_run_for_a_parent_that_has_ended_already() -> None:
    command = [each if each != str(os.getpid()) else "1" for each in tied.command("--version")]
    assert await run(*command) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's end")
async def test_it_ends_with_its_parent() -> None:
    """The child prints once it is tied, and holds the pipe until it ends."""
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", parent, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    async with asyncio.timeout(60):
        assert await process.stdout.readline() == b"1\n"
        process.kill()
        assert await process.stdout.read() == b"", "the last holder of the pipe is gone"
        await process.wait()
