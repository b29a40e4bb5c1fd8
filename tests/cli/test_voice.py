"""`muleteer voice` where nothing of voice is installed or runs; what it does is tested in tests/voice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muleteer import exits
from tests.cli.conftest import Run

# In a process of its own: what ran here before has imported the packages, and voice itself ends its process.
BARE = """
import sys
for name in ("babel", "unicode_rbnf", "miniaudio", "faster_whisper", "pymicro_vad", "pymicro_wakeword"):
    sys.modules[name] = None
from muleteer.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("command", [["voice"], ["voice", "devices"]])
def test_without_its_packages_it_says_what_to_install(tmp_path: Path, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BARE, *command],
        env={**os.environ, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == exits.TURN_FAILED, done.stderr
    assert "pip install 'muleteer[voice]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["status", "mute", "unmute", "hush"])
def test_without_the_process_it_says_how_to_start_it(run: Run, command: str) -> None:
    done = run("voice", command)
    assert done.code == exits.NO_DAEMON
    assert "start it: muleteer voice" in done.err


def test_the_settings_say_where_it_is_controlled(run: Run, tmp_path: Path) -> None:
    config = tmp_path / ".config" / "muleteer" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[voice]\nsocket = "/nowhere/voice"\n')
    assert "/nowhere/voice" in run("voice", "status").err
