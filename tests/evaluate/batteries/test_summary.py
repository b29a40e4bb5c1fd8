from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.evaluate.batteries import picture, summary
from muleteer.evaluate.batteries.battery import Tried


def tried(case: str, side: str, right: bool, seconds: float = 1.0, group: str = "g") -> Tried:
    level = (("agent:clock", 10, 5, 100.0), ("agent:lamp", 2, 1, 20.0))
    return Tried(case, group, side, right, "x", "", 20, 8, 12, 6, seconds, level)


SAID = [
    tried("1", "harness", True, 1.0),
    tried("1", "flat", False, 4.0),
    tried("2", "harness", True, 2.0),
    tried("2", "flat", True, 4.0),
    tried("3", "harness", False, 1.0, "h"),
]


def test_a_row_counts_one_side_of_one_group_and_the_last_ones_everything() -> None:
    rows = summary.rows(SAID)
    assert [(row.group, row.side, row.n, row.right) for row in rows] == [
        ("g", "harness", 2, 2),
        ("g", "flat", 2, 1),
        ("h", "harness", 1, 0),
        ("all", "harness", 3, 2),
        ("all", "flat", 2, 1),
    ]
    assert rows[0].seconds == 1.5
    assert (rows[0].decoded, rows[0].generated) == (12, 6)


def test_sides_are_compared_on_the_cases_that_both_have_tried() -> None:
    one, whole = summary.differences(SAID)
    assert (one.group, one.side, one.against, one.n) == ("g", "harness", "flat", 2)
    assert one.points == 0.5
    assert one.ratio == 0.375  # of 1/4 and 2/4
    assert (whole.group, whole.n) == ("all", 2)


def test_the_levels_of_one_attempt_are_added_up() -> None:
    side, level, n, decoded, generated, ms = summary.levels(SAID[:1])[0]
    assert (side, level, n) == ("harness", "agent", 1)
    assert (decoded, generated, ms) == (12, 6, 120)


def test_the_tables_are_markdown_and_wrong_answers_are_listed() -> None:
    text = summary.markdown(SAID)
    assert "| g | harness | 2 | 2 | 100.0 % | 34.2 to 100.0 % |" in text
    assert "| g | harness | 2 | +50.0 |" in text
    assert summary.wrong(SAID).startswith("- flat, 1: x")


def test_a_picture_of_two_sides_and_one_of_many(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    many = [tried("1", f"variant {number}", True) for number in range(9)]
    for attempts, name in ((SAID, "two.svg"), (many, "many.svg")):
        picture.draw(summary.rows(attempts), "A title", tmp_path / name)
        assert "A title" in (tmp_path / name).read_text() or (tmp_path / name).stat().st_size > 5000
