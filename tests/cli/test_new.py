"""Templates: the written tool and skill load, their own tests pass, and nothing is ever overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muleteer import paths
from muleteer.skills import load_catalogue
from muleteer.tool import Services
from muleteer.toolbox import Toolbox
from tests.cli.conftest import Run


def pytest_in(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "MULETEER_SOCKET": str(folder / "s")}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


async def test_the_written_tool_loads_and_its_test_passes(run: Run) -> None:
    done = run("tools", "new", "roll_dice")
    assert (done.code, done.err) == (0, "")
    folder = paths.config_dir() / "tools"
    toolbox = Toolbox.load([folder], Services())
    assert (list(toolbox.tools), toolbox.disabled) == (["roll_dice"], {})
    assert (await toolbox.call("roll_dice", {"count": 2})).result.text == "Hello. Hello."
    tested = pytest_in(folder)
    assert tested.returncode == 0, tested.stdout
    assert "3 passed" in tested.stdout


def test_the_written_skill_loads_and_its_test_passes(run: Run) -> None:
    done = run("skills", "new", "good-night")
    assert (done.code, done.err) == (0, "")
    folder = paths.config_dir() / "skills"
    catalogue = load_catalogue([folder], Toolbox.load([paths.share_dir() / "tools"], Services()))
    assert (list(catalogue.skills), catalogue.disabled) == (["good-night"], {})
    tools = [tool.name for tool in catalogue.expand(["good-night"])]
    assert tools == ["current_time", "device_info"]
    tested = pytest_in(folder / "good-night")
    assert tested.returncode == 0, tested.stdout
    assert "1 passed" in tested.stdout


@pytest.mark.parametrize(("kind", "name"), [("tools", "roll_dice"), ("skills", "good-night")])
def test_what_is_there_stays_as_it_is(run: Run, kind: str, name: str) -> None:
    run(kind, "new", name)
    before = {path: path.read_bytes() for path in paths.config_dir().rglob("*") if path.is_file()}
    done = run(kind, "new", name)
    assert done.code == 2
    assert "is there already; choose another name" in done.err
    assert before == {path: path.read_bytes() for path in paths.config_dir().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("tools", "Roll-Dice"),
        ("tools", "../x"),
        ("tools", "reply"),
        ("skills", "Good_Night"),
        ("skills", "a/b"),
    ],
)
def test_a_name_that_cannot_be_is_refused(run: Run, kind: str, name: str) -> None:
    done = run(kind, "new", name)
    assert done.code == 2
    assert "name; use a-z" in done.err
    assert not paths.config_dir().exists()
