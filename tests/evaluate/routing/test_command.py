"""`muleteer evaluate routing` from the command line, on the tiny model: bad lines, files, and going on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from muleteer.cli.evaluate import evaluate
from muleteer.engine import models

LINES = "what time is it\tcurrent-time\nno tab here\nhello\treply\nx\tmoon\n"


@pytest.fixture
def battery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MULETEER_STATE", str(tmp_path / "state"))
    file = tmp_path / "battery.tsv"
    file.write_text(LINES, encoding="utf-8")
    return file


@pytest.mark.model("tiny")
def test_a_report_is_written_and_a_second_run_asks_nothing_anew(battery: Path, tmp_path: Path) -> None:
    tiny = models.locate("tiny")
    assert tiny, "The tiny model is missing; run `make setup`."
    report, tables = tmp_path / "r.json", tmp_path / "r.md"
    options = ["routing", str(battery), "--model", str(tiny), "--menu", "2", "--journal", str(tmp_path)]
    files = ["--json", str(report), "--markdown", str(tables)]
    first = CliRunner().invoke(evaluate, [*options, *files], catch_exceptions=False)
    assert first.exit_code == 0, first.output
    assert "battery.tsv: Line 2: it is not a message, a tab and a handle. It is left out." in first.output
    assert "battery.tsv: Line 4: there is no @moon" in first.output
    found = json.loads(report.read_text())
    assert len(found["bad_lines"]) == 2
    whole = next(each for each in found["figures"] if each["half"] == "all")
    assert whole["right"]["n"] == 2
    assert whole["menu_tokens"] > 0
    assert {each["wanted"] for each in found["attempts"]} == {"current-time", "reply"}
    assert "| right |" in tables.read_text()
    again = CliRunner().invoke(evaluate, options, catch_exceptions=False)
    assert again.exit_code == 0
    (journal,) = tmp_path.glob("routing-*.jsonl")
    assert len(journal.read_text().splitlines()) == 3, "a line of conditions, and one for each message"


def test_a_menu_that_there_is_not_ends_before_a_model_is_loaded(battery: Path, tmp_path: Path) -> None:
    tiny = models.locate("tiny")
    assert tiny
    outcome = CliRunner().invoke(evaluate, ["routing", str(battery), "--model", str(tiny), "--menu", "huge"])
    assert "There is no menu 'huge'" in str(outcome.exception)
