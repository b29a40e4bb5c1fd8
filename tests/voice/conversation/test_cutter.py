"""An answer in pieces, to the words that are heard."""

from __future__ import annotations

import pytest

from muleteer.voice.conversation.cutter import AnswerCutter
from muleteer.voice.spoken.reading import aloud

ANSWER = (
    "<think>The user wants\na number.</think>It is **21.5 °C** in the [attic](https://example.org/attic).\n"
    "```python\nprint(1)\nprint(2)\n```\n- Open the window. See https://example.org for more."
)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_markup_links_code_and_thinking_are_never_heard(size: int) -> None:
    cutter = AnswerCutter()
    pieces = [ANSWER[start : start + size] for start in range(0, len(ANSWER), size)]
    sentences = [sentence for piece in pieces for sentence in cutter.feed(piece)]
    heard = [said for each in [*sentences, cutter.rest()] if (said := aloud(each, "en"))]
    whole = " ".join(heard)
    assert whole.startswith("It is twenty-one point five degrees Celsius in the attic.")
    assert "Open the window." in heard
    assert not any(bad in whole for bad in ("think", "number", "print", "*", "http", "```", "["))
