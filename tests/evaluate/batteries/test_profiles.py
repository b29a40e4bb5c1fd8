from __future__ import annotations

from pathlib import Path
from typing import Any

from muleteer.engine.protocol import Properties
from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.batteries.profiles import write
from muleteer.evaluate.batteries.reporting import Report
from muleteer.evaluate.batteries.running import Conditions
from muleteer.harness.profile import path, read

KNOWN: dict[str, Any] = {
    "name": "M", "path": "/m.gguf", "size": 1, "context": 512, "trained_context": 512, "vocabulary": 9,
    "template_knows_tools": True, "partial_reuse": True, "kv_bytes": 1, "threads": 1, "build": "b",
    "extra_buffers": True, "load_ms": 1.0,
}  # fmt: skip


def attempts(tools: int, side: str, right: int, seconds: float) -> list[Tried]:
    return [
        Tried(f"{tools} {i}", f"{tools} tools", side, i < right, "", seconds=seconds, decoded=9)
        for i in range(40)
    ]


def test_what_a_run_writes_decides_which_path_a_turn_takes(tmp_path: Path) -> None:
    said = [
        *attempts(4, "harness", 38, 2.0),
        *attempts(4, "flat", 38, 4.0),
        *attempts(80, "harness", 36, 2.0),
        *attempts(80, "flat", 20, 1.0),
    ]
    conditions = Conditions("cmd", Properties(**KNOWN), "abc", {"cpu": "x"}, {}, tmp_path / "j")
    write(Report("load", conditions, said), tmp_path / "p.json")
    found = read((tmp_path / "p.json").read_text())
    assert (found.model, found.command) == ("abc", "cmd")
    assert [(row.tools, row.harness.right, row.flat.right) for row in found.rows] == [
        (4, 38, 38),
        (80, 36, 20),
    ]
    assert path(found, 4, 1)[0] == "harness"  # as good, and faster
    assert path(found, 80, 1)[0] == "harness"  # better
