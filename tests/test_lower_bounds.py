"""That every dependency says its oldest version. That these work is what `make test-lowest` tries."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
DEPENDENCIES: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_it_has_a_lower_bound_and_no_other_and_is_installed(dependency: str) -> None:
    wanted = Requirement(dependency)
    assert [each.operator for each in wanted.specifier] == [">="]
    assert wanted.specifier.contains(version(wanted.name))


def test_all_but_the_one_that_takes_minutes_are_tried_at_their_lower_bound() -> None:
    told = subprocess.run(
        [sys.executable, ROOT / ".ci/lowest.py"], capture_output=True, check=True, text=True, timeout=60
    )
    pins = [Requirement(line) for line in told.stdout.splitlines()]
    for pin, dependency in zip(pins, [d for d in DEPENDENCIES if "llama" not in d], strict=True):
        (least,) = Requirement(dependency).specifier
        assert (pin.name, str(pin.specifier)) == (Requirement(dependency).name, f"=={least.version}")
