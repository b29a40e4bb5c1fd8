"""Answers cut into what is spoken, in whatever pieces they come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.gateway.wyoming.sentences import LONGEST, Sentences


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("It is noon. The lamp is on.", ["It is noon.", "The lamp is on."]),
        ('He said "stop!" Then he left.', ['He said "stop!"', "Then he left."]),
        ("Really? Yes!", ["Really?", "Yes!"]),
        ("Am 3. Mai sind es 2.5 Grad. Gut.", ["Am 3. Mai sind es 2.5 Grad.", "Gut."]),
        ("Milk\n\nBread\n", ["Milk", "Bread"]),
        ("No end", ["No end"]),
        ("", []),
    ],
)
def test_whole_sentences(text: str, spoken: list[str]) -> None:
    sentences = Sentences()
    found = [each for character in text for each in sentences.feed(character)]
    assert [each.strip() for each in [*found, sentences.rest()] if each] == spoken


@given(st.lists(st.text(alphabet="aB. !\n3", max_size=8), max_size=8))
def test_nothing_is_lost_or_doubled(pieces: list[str]) -> None:
    sentences = Sentences()
    found = [each for piece in pieces for each in sentences.feed(piece)]
    assert "".join([*found, sentences.rest()]) == "".join(pieces)


def test_what_has_no_end_is_spoken_all_the_same() -> None:
    sentences = Sentences()
    assert sentences.feed("a" * (LONGEST + 1)) == ["a" * (LONGEST + 1)]
