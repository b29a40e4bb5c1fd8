from __future__ import annotations

import pytest

from muleteer.harness.free.schema import LONGEST, wrong_with

SCHEMA = {
    "type": "object",
    "properties": {
        "place": {"type": "string", "maxLength": 10},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "unit": {"enum": ["C", "F"]},
        "id": {"type": "string", "pattern": "^(a+)+$"},
    },
    "required": ["place"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"place": "Rome"}, ""),
        ({"place": "Rome", "days": [1, 2], "unit": "C"}, ""),
        ({}, "'place' is a required property"),
        ({"place": "Rome", "days": [1, 0]}, "days[1]: 0 is less than the minimum of 1"),
        ({"place": "Rome", "unit": "K"}, "unit: 'K' is not one of ['C', 'F']"),
        ({"place": "Rome", "town": 1}, "Additional properties are not allowed ('town' was unexpected)"),
    ],
)
def test_what_is_wrong_is_said_where(arguments: dict[str, object], said: str) -> None:
    assert wrong_with(arguments, SCHEMA) == said


def test_it_is_said_shortly() -> None:
    assert len(wrong_with({"place": "x" * 10_000}, SCHEMA)) < LONGEST + 20


def test_a_pattern_that_takes_for_ever_takes_no_time() -> None:
    assert wrong_with({"place": "Rome", "id": "a" * 64 + "!"}, SCHEMA) == ""


def test_nothing_is_fetched() -> None:
    with pytest.raises(Exception, match="example"):
        wrong_with({"place": "Rome"}, {"$ref": "http://example.invalid/schema.json"})
