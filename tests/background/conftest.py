"""Skills for background turns: `morning` only reads, `errand` writes, `unplanned` has no schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.services import Services
from muleteer.skills import Catalogue, load_catalogue
from muleteer.toolbox import Toolbox

SKILL = """\
---
name: {name}
description: Looks at the time.
metadata:
  examples: ["What is the morning like?"]
{schedule}---
1. Call @{tool}.
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    daily = '  schedule: "*-*-* 07:00"\n'
    for name, schedule, tool in (
        ("morning", daily, "current-time"),
        ("errand", daily, "remember"),
        ("unplanned", "", "current-time"),
    ):
        (tmp_path / "skills" / name).mkdir(parents=True)
        text = SKILL.format(name=name, schedule=schedule, tool=tool)
        (tmp_path / "skills" / name / "SKILL.md").write_text(text)
    tools = Path(__file__).parents[2] / "tools"
    return load_catalogue([tmp_path / "skills"], Toolbox.load([tools], Services()))


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
