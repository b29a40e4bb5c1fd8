from __future__ import annotations

import pytest

from muleteer.voice.bench.words import errors, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What's the time?", ["what's", "the", "time"]),
        ("What\u2019s THE time", ["what's", "the", "time"]),
        ("Neu-Delhi, u\u0308ber!", ["neu", "delhi", "über"]),
        (" ... ", []),
    ],
)
def test_case_and_punctuation_are_not_spoken(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("said", "heard", "count"),
    [
        ("turn on the light", "turn on the light", 0),
        ("turn on the light", "turn of the light", 1),
        ("turn on the light", "turn the light", 1),
        ("turn the light", "now turn on the light", 2),
        ("turn on the light", "", 4),
        ("", "thank you", 2),
        ("a b c d", "d a b c", 2),
    ],
)
def test_errors_are_the_least_number_of_changes(said: str, heard: str, count: int) -> None:
    assert errors(said.split(), heard.split()) == count
