"""The benchmark itself: real runs on the tiny model, and what it says when something is missing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from muleteer import paths
from muleteer.cli import main
from muleteer.errors import ConfigError, EngineError
from muleteer.evaluate import bench, peer, plot, report
from muleteer.evaluate.bench import Options
from muleteer.evaluate.endurance import anonymous


def options(**given: object) -> Options:
    return Options(**{"model": "tiny", "folder": paths.models_dir(), "command": "bench"} | given)  # type: ignore[arg-type]  # a dict of anything


def test_the_measures_are_those_of_the_report() -> None:
    assert tuple(bench.MEASURES) == report.NAMES


@pytest.mark.model("tiny")
def test_a_run_without_a_peer_prints_its_table_and_writes_its_files(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    command = ["bench", "--quick", "--no-peer", "--model", "tiny", "--only", "decode,cancel"]
    done = CliRunner().invoke(main, [*command, "--json", str(file)])
    assert done.exit_code == 0, done.output
    assert "Machine:" in done.output
    assert "cancelled decode" in done.output
    written = json.loads(file.read_text())
    decode, cancel = written["measures"]
    assert (decode["name"], decode["unit"], decode["n"]) == ("decode", "tokens/s", 15)
    assert decode["ours"] > 0
    assert (decode["peer"], decode["ratio"]) == (None, None)
    assert 0 < decode["overhead"]["write"]["share"] < 10
    assert cancel["name"] == "cancel"
    assert len(cancel["prefill"]) == len(cancel["decode"]) == 5
    assert written["machine"]["cores"] >= 1
    assert written["model"]["vocabulary"] == 49152


def test_without_the_extra_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "installed", lambda: False)
    monkeypatch.setattr(plot, "installed", lambda: False)
    with pytest.raises(ConfigError, match=r"pip install 'muleteer\[bench\]'.*--no-peer"):
        bench.check(options())
    bench.check(options(with_peer=False))
    with pytest.raises(ConfigError, match=r"matplotlib.*muleteer\[bench\]"):
        bench.check(options(with_peer=False, plot_file=Path("a.png")))


def test_an_unknown_measure_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match="no measure 'speed'; there are decode, prefill"):
        bench.check(options(only=("speed",), with_peer=False))


def test_the_memory_of_a_process_that_is_gone_is_no_figure() -> None:
    assert anonymous(os.getpid()) > 2**20
    with pytest.raises(EngineError, match="cannot be read"):
        anonymous(None)
