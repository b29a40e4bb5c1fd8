"""Text on a terminal: what acts on it or hides in it is left out, what scripts are written with stays."""

from __future__ import annotations

import pytest

from muleteer.cli.render import safe


@pytest.mark.parametrize(
    "unseen", ["\x1b", "\x9b", "\u202e", "\u200b", "\u2060", "\ufeff", "\ud800", "\U000e0041"]
)
def test_what_is_not_seen_is_not_printed(unseen: str) -> None:
    assert safe(f"a{unseen}b") == "ab"


def test_joiners_and_the_breaks_of_lines_are_printed() -> None:
    text = "\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u062e\n\tStraße"
    assert safe(text) == text
