from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.voice.bench import picture
from muleteer.voice.bench.latency import PARTS, WAYS, Lap
from muleteer.voice.bench.timing import Timed, chosen


def laps() -> list[Lap]:
    parts = dict.fromkeys(PARTS, 0.25)
    return [
        Lap("time", way, "what time is it", "nine", 2.0 + number, parts) for number, way in enumerate(WAYS)
    ]


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture.draw(laps(), 2.0, "small on a board", tmp_path / "latency.png")
    assert (tmp_path / "latency.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_has_medians_the_ratio_and_the_target() -> None:
    found = Timed("muleteer voice bench", "small", "piper", "local base", {}, {}, 0.1, laps()).as_dict()
    assert found["median"] == {"as it is": 2.0, "in a row": 3.0}
    assert found["ratio"] == pytest.approx(0.667)
    assert found["target"] == 1.2
    assert found["medians"]["in a row"] == dict.fromkeys(PARTS, 0.25)


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_timed_only_reads(language: str) -> None:
    wholes = chosen(language, 8)
    assert len(wholes) == 8
    assert {name for whole in wholes for name in whole.must} <= {"current_time", "calculator", "device_info"}
