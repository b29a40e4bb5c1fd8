"""Which words may mean which: forms, parts and slips, but not strangers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.store.matching import WORD_LIMIT, fold, keywords, meanings


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("when is my sister's birthday", ("sister", "birthday")),
        ("What do you know about Tom?", ("tom",)),
        ("¿Dónde está la llave?", ("llave",)),
        ("Wann hat Jörg Geburtstag", ("jorg", "geburtstag")),
        ("level 3 or level 4", ("level", "3", "4")),
        ("鍵", ("鍵",)),
        ("all my notes", ()),
        ("\"' * ( ) NEAR -", ("near",)),
    ],
)
def test_keywords_are_what_a_question_is_about(question: str, words: tuple[str, ...]) -> None:
    assert keywords(question) == words


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("boiler", "boilers"),
        ("boilers", "boiler"),
        ("keys", "key"),
        ("parties", "party"),
        ("serviced", "servicing"),
        ("kind", "kinder"),
        ("schlussel", "ersatzschlussel"),
        ("鍵です", "合鍵です"),
    ],
)
def test_a_word_means_its_forms_and_what_contains_it(word: str, term: str) -> None:
    assert meanings(word, ["unrelated", term]) == ((term,), 1.0)


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("boliers", "boiler"),
        ("birthdya", "birthday"),
        ("dentsit", "dentist"),
        ("anniversery", "anniversary"),
        ("schluessel", "schlussel"),
        ("marie", "maria"),
    ],
)
def test_a_slip_is_found_and_doubted(word: str, term: str) -> None:
    assert meanings(word, ["unrelated", term]) == ((term,), 0.5)


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("tom", "tomato"),
        ("cat", "car"),
        ("tom", "tim"),
        ("2024", "2025"),
        ("12", "112"),
        ("boiler", "toilet"),
        ("passport", "password"),
        ("anna", "banana"),
        ("mother", "brother"),
        ("martin", "martha"),
        ("anton", "antje"),
    ],
)
def test_strangers_stay_strangers(word: str, term: str) -> None:
    assert meanings(word, [term]) == ((), 0.0)


def test_a_slip_is_not_looked_for_where_the_word_itself_stands() -> None:
    assert meanings("sister", ["sister", "sitter", "sisters"]) == (("sister", "sisters"), 1.0)


@given(st.text(max_size=200))
def test_any_text_gives_bounded_folded_words(text: str) -> None:
    words = keywords(text)
    assert len(words) <= WORD_LIMIT
    assert all(word == fold(word) and '"' not in word for word in words)


LETTERS = st.text(st.sampled_from("abcde"), min_size=4, max_size=8)


@given(
    LETTERS,
    st.integers(0, 8),
    st.sampled_from("abcdefg"),
    st.sampled_from(["wrong", "extra", "missing", "swapped"]),
)
def test_any_one_slip_is_found(word: str, place: int, letter: str, slip: str) -> None:
    place %= len(word)
    wrong = {
        "wrong": word[:place] + letter + word[place + 1 :],
        "extra": word[:place] + letter + word[place:],
        "missing": word[:place] + word[place + 1 :],
        "swapped": word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
    }[slip]
    if len(wrong) >= 4:
        assert meanings(wrong, [word])[0] == (word,)


@given(st.text(st.characters(categories=["Ll", "Nd"]), min_size=2, max_size=12).map(fold))
def test_every_word_means_itself(word: str) -> None:
    terms, sureness = meanings(word, [word, "other"])
    assert word in terms
    assert sureness == 1.0
