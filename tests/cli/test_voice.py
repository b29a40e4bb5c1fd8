"""`muleteer voice` where nothing of voice is installed or runs; what it does is tested in tests/voice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from muleteer import exits
from tests.cli.conftest import Run


@pytest.fixture
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the packages of the extra."""
    for name in list(sys.modules):
        if name.startswith("muleteer.voice.") and not name.endswith("settings"):
            monkeypatch.delitem(sys.modules, name)
    for name in ("babel", "unicode_rbnf", "miniaudio", "faster_whisper", "pymicro_vad", "pymicro_wakeword"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("_bare")
@pytest.mark.parametrize("command", [["voice"], ["voice", "devices"]])
def test_without_its_packages_it_says_what_to_install(run: Run, command: list[str]) -> None:
    done = run(*command)
    assert done.code == exits.TURN_FAILED
    assert "pip install 'muleteer[voice]'" in done.err
    assert "Traceback" not in done.err


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
