"""Commands run in this process, or as a program of their own; folders that are this test's alone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from muleteer import paths
from muleteer.cli import main
from tests.cli.scripted_daemon import ScriptedDaemon, listening


@dataclass(frozen=True)
class Outcome:
    code: object
    out: str
    err: str


class Typist(io.TextIOWrapper):
    """Standard input that counts as a terminal; a line that is Ctrl-C interrupts."""

    def isatty(self) -> bool:
        return True

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # as typeshed has it
        line = super().readline(size)
        if line == "\x03\n":
            raise KeyboardInterrupt
        return line


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("MULETEER_", "XDG_")) or name.endswith("_DIRECTORY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(paths, "SYSTEM_CONFIG", tmp_path / "etc")
    monkeypatch.setattr(paths, "SYSTEM_SOCKET", tmp_path / "run.sock")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in this process."""

    def run_it(*args: str, stdin: bytes = b"", terminal: bool = False) -> Outcome:
        kind = Typist if terminal else io.TextIOWrapper
        monkeypatch.setattr(sys, "stdin", kind(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            main(args, prog_name="muleteer")
        printed = capsys.readouterr()
        return Outcome(ended.value.code, printed.out, printed.err)

    return run_it


@pytest.fixture
def program() -> Callable[..., subprocess.Popen[bytes]]:
    """Start the command as a process of its own."""

    def start(*args: str | bytes, **options: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "muleteer", *args]
        return subprocess.Popen(command, **options)  # type: ignore[call-overload, no-any-return]  # passed on

    return start


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedDaemon]:
    """A scripted daemon that MULETEER_SOCKET points to."""
    with listening(tmp_path / "s") as scripted:
        monkeypatch.setenv("MULETEER_SOCKET", str(scripted.socket))
        yield scripted
