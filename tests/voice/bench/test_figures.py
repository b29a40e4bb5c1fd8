from __future__ import annotations

import pytest

from muleteer.evaluate.batteries.battery import Tried
from muleteer.voice.bench.figures import Counted, counted, markdown, misheard


def aloud(text: str) -> str:
    return text.replace("10", "ten")


def tried(side: str, right: bool, **extra: str) -> Tried:
    return Tried("one", "en", side, right, "", extra=extra)


def test_a_number_is_the_same_in_digits_and_in_words() -> None:
    pairs = [("Ten minutes!", "10 minutes"), ("the porch light", "the poor chlight")]
    assert counted(pairs, aloud) == Counted(sentences=2, whole=1, words=5, errors=2)
    assert counted(pairs, aloud).rate == pytest.approx(0.4)
    assert counted([], aloud).rate == 0.0


def test_each_side_has_its_calls_its_words_and_those_of_its_answers() -> None:
    attempts = [
        tried("typed", True),
        tried(
            "piper", True, said="ten minutes", heard="10 minutes", answer="It is on.", answer_heard="It's on."
        ),
        tried("piper", False, said="the lamp", heard="the lab"),
    ]
    table = markdown(attempts, aloud).splitlines()
    assert table[2] == "| typed | 1 | 1, 100.0% | 20.7% to 100.0% | - | - | - |"
    assert table[3].startswith("| piper | 2 | 1, 50.0% |")
    assert table[3].endswith("| 1 of 2 | 25.0% | 66.7% |")
    assert misheard(attempts, aloud) == [("piper", "the lamp", "the lab")]
