"""Answers cut into what is spoken, in whatever pieces they come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.utterances import LONGEST, Sentences


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("It is noon. The lamp is on.", ["It is noon.", "The lamp is on."]),
        ('He said "stop!" Then he left.', ['He said "stop!"', "Then he left."]),
        ("Really? Yes!", ["Really?", "Yes!"]),
        ("Am 3. Mai sind es 2.5 Grad. Gut.", ["Am 3. Mai sind es 2.5 Grad.", "Gut."]),
        ("It is 14:05. The lamp is on.", ["It is 14:05.", "The lamp is on."]),
        ("The sum is 391. Good.", ["The sum is 391.", "Good."]),
        ("Dr. Smith, e.g. J. Smith, is here. Good.", ["Dr. Smith, e.g. J. Smith, is here.", "Good."]),
        ("Das ist z. B. ca. 5 km weit. Gut.", ["Das ist z. B. ca. 5 km weit.", "Gut."]),
        ("Milk\n\nBread\n", ["Milk", "Bread"]),
        ("No end", ["No end"]),
        ("", []),
    ],
)
def test_whole_sentences(text: str, spoken: list[str]) -> None:
    sentences = Sentences()
    found = [each for character in text for each in sentences.feed(character)]
    assert [each.strip() for each in [*found, sentences.rest()] if each] == spoken


@given(st.lists(st.text(alphabet="aB. !\n3,", max_size=8), max_size=8), st.integers(1, 40))
def test_nothing_is_lost_or_doubled(pieces: list[str], longest: int) -> None:
    sentences = Sentences(longest)
    found = [each for piece in pieces for each in sentences.feed(piece)]
    assert "".join([*found, sentences.rest()]) == "".join(pieces)


def test_what_has_no_end_is_spoken_all_the_same() -> None:
    sentences = Sentences()
    assert sentences.feed("a" * (LONGEST + 1)) == ["a" * LONGEST]
    assert sentences.rest() == "a"


def test_a_long_sentence_is_cut_between_clauses_else_between_words() -> None:
    sentences = Sentences(longest=20)
    assert sentences.feed("first this, then that and ever so much more") == [
        "first this, ",
        "then that and ever ",
    ]
    assert sentences.rest() == "so much more"
