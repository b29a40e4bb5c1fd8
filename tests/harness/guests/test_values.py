"""Values in answers from what functions returned, and results in words."""

from __future__ import annotations

import pytest

from muleteer.harness.guests.values import Values, readable

SOURCE = '{"degrees": 21.53, "at": "2026-11-30T09:05", "code": "AB-12"} and 1,250 steps'


@pytest.mark.parametrize(
    "answer",
    [
        "It has 21.53 degrees.",
        "It has 21.5 degrees.",
        "About 22 degrees.",
        "On 30 November 2026 at 9:05.",
        "The code is AB-12, and 1,250 steps.",
        "1. AB-12\n2. nothing else",
    ],
)
def test_what_stands_in_the_source_may_be_said(answer: str) -> None:
    values = Values(SOURCE)
    assert values.feed(answer) + values.finish() == answer
    assert not values.tripped


@pytest.mark.parametrize(
    "answer", ["It has 25 degrees.", "On 3 November.", "The code is AB-13.", "1,251 steps."]
)
def test_what_does_not_is_not_said(answer: str) -> None:
    values = Values(SOURCE)
    assert values.feed(f"Well then. {answer}") + values.finish() == "Well then. "
    assert values.tripped


def test_results_are_readable() -> None:
    told = readable(['{"city": "Oslo", "sky": ["rain", "fog"], "wind": null}', "plain \x07text", '"quoted"'])
    assert readable(["[" * 500 + "]" * 500]).startswith("[[[[")
    assert told == "city: Oslo, sky: rain; fog, wind: null\nplain text\nquoted"
