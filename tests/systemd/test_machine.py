"""The machines that the other tests use."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.systemd.machine import NAMED, hierarchy, machine, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

BOOTS = """\
import sys
from tests.systemd.machine import machine
with machine():
    print("booted", flush=True)
    sys.stdin.read()
"""


def test_what_killed_tests_have_left_the_next_ones_clear() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", BOOTS], stdin=pipe, stdout=pipe, text=True) as tests:
        assert tests.stdout
        assert tests.stdout.readline() == "booted\n"
        tests.kill()
    left = _left(tests.pid)
    assert len(left) == 2, "a folder and a cgroup"
    with machine() as booted:
        assert booted.said("cat", "/proc/1/comm") == "systemd"
        assert _left(tests.pid) == []
    assert _left(os.getpid()) == []


def _left(pid: int) -> list[Path]:
    folders = [Path(tempfile.gettempdir()), hierarchy()]
    return [each for folder in folders if folder for each in folder.glob(f"{NAMED}{pid}-*")]
