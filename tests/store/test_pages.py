"""Which page a note belongs on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.store.pages import LONGEST_NAME, page_for, page_name, same_page


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ('  "Anna\n Maria". ', "Anna Maria"),
        ("shopping", "shopping"),
        ("Notes", ""),
        ("none", ""),
        ("Notizen", ""),
        ("", ""),
        ("x" * LONGEST_NAME, "x" * LONGEST_NAME),
        ("x" * (LONGEST_NAME + 1), ""),
        ("../../etc/passwd", "/../etc/passwd"),
        ("a\0b", ""),
        ("\ud800", ""),
    ],
)
def test_a_name_is_tidy_or_none(given_name: str, name: str) -> None:
    assert page_name(given_name) == name


@given(st.text(max_size=80))
def test_a_tidy_name_stays(given_name: str) -> None:
    name = page_name(given_name)
    assert page_name(name) == name


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Anna moved to Berlin", "Anna"),
        ("ANNA's new number", "Anna"),
        ("Hannah likes tea", ""),
        ("Anna Maria likes tea", "Anna Maria"),
        ("add milk to the garden list", "garden"),
        ("Milk is on our Anna list", "Anna"),
        ("Note on the page garden: cut the roses", "garden"),
        ("Milch auf die Einkaufsliste", "Einkaufsliste"),
        ("leche a la lista de compras", "compras"),
        ("the note list is long", ""),
        ("a shopping list has milk", "shopping list"),
        ("Mia's shoe size is 34", "Mia"),
        ("my sister Zoë\u2019s flat", "Zoë"),
        ("it's late and That's all", ""),
        ("the boiler's manual", ""),
        ("tea", ""),
    ],
)
def test_a_note_finds_the_page_it_mentions_or_its_owner(text: str, page: str) -> None:
    assert page_for(text, ["Anna", "Anna Maria", "shopping list"]) == page


def test_a_page_is_one_page_however_it_is_spelled() -> None:
    assert same_page("zoe", {"Zoë", "Anna"}) == "Zoë"
    assert same_page("Zoey", {"Zoë"}) == "Zoey"
