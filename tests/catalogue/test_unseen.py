"""What nobody sees is found, and what shapes a script or an emoji is not."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from muleteer.catalogue.unseen import UNSEEN, revealed

# Format characters that are drawn: signs over numbers in Arabic, Syriac and Kaithi, and the layout of
# hieroglyphs.
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def test_every_format_and_control_character_is_found() -> None:
    missed = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        and not UNSEEN.search(f"a{chr(code)}b")
    }
    assert missed - DRAWN == {ord("\t"), ord("\n")}


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian
        "\u0915\u094d\u200d\u0937",  # Hindi
        "\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3",
        "Straße\u00a0\u3000 e\u0301",
    ],
)
def test_what_shapes_a_script_or_an_emoji_stays(text: str) -> None:
    assert revealed(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\U000e0041b", r"a\U000e0041b"),
        ("a\u200db", r"a\u200db"),
        ("\u0915\u200d\u200c\u200d", "\u0915\u200d" + r"\u200c\u200d"),
        ("\u2764\ufe0f\ufe0e", "\u2764\ufe0f" + r"\ufe0e"),
        ("a\ufe01 \ufe0f", r"a\ufe01 \ufe0f"),
    ],
)
def test_what_only_hides_is_escaped(text: str, shown: str) -> None:
    assert revealed(text) == shown
