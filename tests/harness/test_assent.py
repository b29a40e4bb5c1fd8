"""What is a plain yes or no."""

from __future__ import annotations

import pytest

from muleteer.harness.assent import assent


@pytest.mark.parametrize(
    "message",
    [
        "yes",
        " Yes, please! ",
        "Ja, mach das.",
        "¡Sí!",
        "d\N{RIGHT SINGLE QUOTATION MARK}accord",
        "Evet",
        "OK",
    ],
)
def test_a_yes(message: str) -> None:
    assert assent(message) is True


@pytest.mark.parametrize(
    "message", ["No.", "Nein danke", "don\N{RIGHT SINGLE QUOTATION MARK}t", "Hayır", "Não, obrigado"]
)
def test_a_no(message: str) -> None:
    assert assent(message) is False


@pytest.mark.parametrize(
    "message", ["", "yes but the other lamp", "no idea, what is it?", "yesterday", "ja oder nein"]
)
def test_what_says_more_is_neither(message: str) -> None:
    assert assent(message) is None
