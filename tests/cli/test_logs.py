"""`muleteer logs` where there is nothing to show: one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_a_journal_it_says_where_the_log_is(run: Run, programs: Path) -> None:
    outcome = run("logs")
    assert outcome.code == 1
    assert "There is no journalctl here" in outcome.err


@pytest.mark.parametrize("user", [[], ["--user"]])
def test_without_a_service_it_says_how_to_have_one(run: Run, programs: Path, user: list[str]) -> None:
    program(programs, "journalctl", "echo not asked; exit 9")
    program(programs, "systemctl", "echo 'No files found for muleteer.service.' >&2; exit 1")
    outcome = run("logs", *user)
    assert (outcome.code, outcome.out) == (1, "")
    assert "`muleteer install` does that" in outcome.err
    assert "logs to its own standard error" in outcome.err
