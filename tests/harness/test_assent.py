"""What is a yes, what is a no, and what is neither."""

from __future__ import annotations

import pytest

from muleteer.harness.assent import _NO, _YES, _phrases, assent
from muleteer.harness.phrases import LANGUAGES


@pytest.mark.parametrize(
    "said",
    [
        "yes",
        " Yes.",
        "YES, please!",
        "Yeah, go ahead.",
        "okay, do it",
        "Ja, bitte.",
        "Ja gerne",
        "Natürlich",
        "Sí, por favor.",
        "si",
        "Oui, vas-y !",
        "D\N{RIGHT SINGLE QUOTATION MARK}accord.",
        "Sì, grazie.",
        "Ja, doe maar",
        "Sim, com certeza.",
        "Evet, lütfen.",
        "Tabii ki",
    ],
)
def test_a_plain_yes(said: str) -> None:
    assert assent(said) is True


@pytest.mark.parametrize(
    "said",
    [
        "No.",
        "no, thank you",
        "Don't!",
        "Don\N{RIGHT SINGLE QUOTATION MARK}t do it.",
        "never mind",
        "Nein danke",
        "Mach das nicht",
        "No, gracias.",
        "Non merci",
        "No, grazie",
        "Nee, laat maar",
        "Não, obrigado.",
        "Hayır.",
        "hayır, gerek yok",
    ],
)
def test_a_plain_no(said: str) -> None:
    assert assent(said) is False


@pytest.mark.parametrize(
    "said",
    [
        "",
        "?!",
        "please",
        "bitte",
        "yes, but the other lamp",
        "yes no",
        "ok, don't",
        "no problem",
        "not sure",
        "What time is it?",
        "yes yes yes yes yes yes yes yes yes",
        "yesterday",
        "ja und mach auch das Radio an",
        "\N{THUMBS UP SIGN}",
    ],
)
def test_anything_else_is_neither(said: str) -> None:
    assert assent(said) is None


def test_every_language_has_both_and_no_word_means_both() -> None:
    assert set(_YES) == set(_NO) == set(LANGUAGES)
    yes, no = (set().union(*map(_phrases, each.values())) for each in (_YES, _NO))
    assert not yes & no
    for language in LANGUAGES:
        assert all(assent(" ".join(each)) is True for each in _phrases(_YES[language]))
        assert all(assent(" ".join(each)) is False for each in _phrases(_NO[language]))
