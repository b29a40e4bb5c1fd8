"""Which path a turn takes: by measurement, and by nothing else."""

from __future__ import annotations

import json

import pytest

from muleteer.harness.profile import FEWEST, path, read


def profile(*rows: tuple[int, tuple[int, int, float], tuple[int, int, float]]) -> str:
    sides = ("n", "right", "seconds")
    return json.dumps(
        {
            "model": "abc",
            "command": "muleteer evaluate load",
            "tools": [
                {
                    "number": number,
                    "harness": dict(zip(sides, harness, strict=True)),
                    "flat": dict(zip(sides, flat, strict=True)),
                }
                for number, harness, flat in rows
            ],
        }
    )


FEW = (4, (100, 95, 4.0), (100, 96, 1.5))  # as good, and faster flat
MANY = (24, (100, 94, 4.0), (100, 60, 9.0))
MEASURED = profile(MANY, FEW)


@pytest.mark.parametrize(
    ("tools", "chosen"), [(1, "flat"), (4, "flat"), (5, "harness"), (24, "harness"), (800, "harness")]
)
def test_the_nearest_measurement_decides(tools: int, chosen: str) -> None:
    assert path(read(MEASURED), tools, skills=3)[0] == chosen


def test_a_model_that_was_not_measured_goes_level_by_level() -> None:
    assert path(None, 4, skills=3) == ("harness", "the model was not measured")
    few = profile((4, (FEWEST - 1, 20, 4.0), (100, 99, 1.0)))
    assert path(read(few), 4, skills=3)[0] == "harness"


def test_without_skills_it_is_flat_and_without_tools_it_is_nothing() -> None:
    assert path(None, 4, skills=0)[0] == "flat"
    assert path(None, 0, skills=0)[0] == "harness"


def test_a_difference_that_may_be_an_accident_is_none() -> None:
    close = profile((8, (40, 36, 2.0), (40, 38, 5.0)))
    apart = profile((8, (400, 360, 2.0), (400, 380, 5.0)))
    assert path(read(close), 8, skills=1)[0] == "harness", "faster"
    assert path(read(apart), 8, skills=1)[0] == "flat", "right more often"


def test_a_row_of_one_side_is_no_comparison() -> None:
    one = json.loads(MEASURED)
    del one["tools"][0]["flat"]
    assert [row.tools for row in read(json.dumps(one)).rows] == [4]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"tools": []}',
        '{"model": "x", "tools": 7}',
        '{"model": "x", "tools": ["harness flat"]}',
        profile((4, (10, 11, 1.0), (10, 1, 1.0))),
        profile((4, (10, 1, float("inf")), (10, 1, 1.0))),
        "[" * 100_000,
    ],
)
def test_what_is_no_profile_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="it is no profile"):
        read(text)
